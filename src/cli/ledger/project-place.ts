import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ledgerPlace, projectId, stateFolder, type LedgerPlace } from '../../ledger/ledger-place.ts';
import { problem, type Problem } from '../../protocol/problem.ts';
import type { Given, Io, Option } from '../command.ts';

/** The options that every command of the ledger takes. */
export const PROJECT_OPTION: Option = {
  name: 'project',
  value: 'DIR',
  about: 'Another repository than the current one',
};
export const JSON_OPTION: Option = { name: 'json', about: 'Print JSON' };

export type FoundPlace =
  | { readonly ok: true; readonly place: LedgerPlace }
  | { readonly ok: false; readonly problem: Problem };

/** The ledger of the repository that the command is about: `--project`, else the one around the current folder. */
export function findPlace({ options }: Given, io: Io): FoundPlace {
  const folder = resolve(io.cwd, options.get('project') ?? '.');
  const repository = findRepository(folder);
  if (repository === undefined) {
    const hint = 'Go into a repository, or name one: --project DIR';
    return { ok: false, problem: problem('ledger/no-repository', `${folder} is not inside a git repository`, hint) };
  }
  return { ok: true, place: ledgerPlace(stateFolder(io.env), projectId(repository)) };
}

/** All worktrees of a repository are one project, so it is named after what they share. */
function findRepository(folder: string): string | undefined {
  try {
    const args = ['-C', folder, 'rev-parse', '--path-format=absolute', '--git-common-dir'];
    const shared = execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trimEnd();
    const real = realpathSync(shared);
    return real.endsWith('/.git') ? dirname(real) : real;
  } catch {
    return undefined;
  }
}
