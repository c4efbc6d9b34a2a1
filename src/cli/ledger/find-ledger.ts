import { resolve } from 'node:path';
import { findStateDir } from '../../api/state-folder.ts';
import { identifyProject, type ProjectIdentity } from '../../daemon/project/identity.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import { ledgerPlace, type LedgerPlace } from '../../ledger/writer/ledger-files.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import type { Io, ParsedArguments } from '../command.ts';

export type FoundLedger =
  | { readonly ok: true; readonly place: LedgerPlace; readonly found: FoundProject }
  | { readonly ok: false; readonly problem: Problem };

export interface FoundProject extends ProjectIdentity {
  readonly stateDir: string;
  readonly repository: Repository;
}

/** Finds the project's ledger in the state folder. On PostgreSQL it is the replica. */
export async function findLedger({ options }: ParsedArguments, io: Io): Promise<FoundLedger> {
  const folder = resolve(io.cwd, options.get('project') ?? '.');
  const stateDir = findStateDir(io.env);
  const repository = await findRepository(folder);
  if (!repository.ok) {
    const hint = 'Change to a repository, or name one: --project DIR';
    return { ok: false, problem: problem('ledger/no-repository', `${folder} is not inside a git repository`, hint) };
  }
  const wanted = { stateDir, repository: repository.value, defaultStore: io.env['BATON_STORE'] || undefined };
  let identified = identifyProject({ ...wanted, project: undefined, store: undefined });
  // Reads the runbook only if there is no ledger here, because that takes time.
  if (!identified.ok || !identified.identity.isKnown) {
    const { readRunbook } = await import('../../runbook/read/read-runbook.ts');
    const { project, store } = (await readRunbook(repository.value.mainTop)).subject.value;
    identified = identifyProject({ ...wanted, project, store });
  }
  if (!identified.ok) {
    const { code, message, hint } = identified.error;
    return { ok: false, problem: problem(code, message, hint) };
  }
  const found = { ...identified.identity, stateDir, repository: repository.value };
  return { ok: true, place: ledgerPlace(stateDir, found.id), found };
}
