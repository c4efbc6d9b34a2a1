import { resolve } from 'node:path';
import { findStateDir } from '../../api/state-folder.ts';
import { findRepository, projectId } from '../../git/repository.ts';
import { ledgerPlace, type LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import type { Io, ParsedArguments } from '../command.ts';

export type FoundLedger =
  | { readonly ok: true; readonly place: LedgerPlace }
  | { readonly ok: false; readonly problem: Problem };

export async function findLedger({ options }: ParsedArguments, io: Io): Promise<FoundLedger> {
  const folder = resolve(io.cwd, options.get('project') ?? '.');
  const repository = await findRepository(folder);
  if (!repository.ok) {
    const hint = 'Change to a repository, or name one: --project DIR';
    return { ok: false, problem: problem('ledger/no-repository', `${folder} is not inside a git repository`, hint) };
  }
  return { ok: true, place: ledgerPlace(findStateDir(io.env), projectId(repository.value)) };
}
