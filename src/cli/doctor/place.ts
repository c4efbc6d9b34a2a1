import { resolve } from 'node:path';
import { findStateDir } from '../../api/state-folder.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { findRepository, type Repository } from '../../git/repository.ts';
import { gitFailure, type GitResult } from '../../git/run-git.ts';
import type { Environment } from '../../protocol/environment.ts';
import type { Runbook, RunbookProblem } from '../../runbook/runbook.ts';
import { readRunbook, type ReadRunbook } from '../../runbook/read/read-runbook.ts';
import type { Io, ParsedArguments } from '../command.ts';

/** What checks look at. All of it was found without an error. */
export interface Place {
  readonly env: Environment;
  /** The folder that the user named, or the current folder. */
  readonly folder: string;
  readonly isNamed: boolean;
  readonly stateDir: string;
  readonly repository: GitResult<Repository>;
  /** Undefined outside of a repository. */
  readonly read: ReadRunbook | undefined;
  /** Undefined if there is no runbook, or it has errors. */
  readonly runbook: Runbook | undefined;
  readonly runbookProblems: readonly RunbookProblem[];
}

export async function findPlace({ options }: ParsedArguments, io: Io): Promise<Place> {
  const named = options.get('project');
  const folder = resolve(io.cwd, named ?? '.');
  const repository = await withLimit(findRepository(folder, { timeoutMs: GIT_MS }), 2 * GIT_MS).catch(gitSilent);
  const read = repository.ok ? await readRunbook(repository.value.mainTop).catch(() => undefined) : undefined;
  const hasFiles = read !== undefined && (read.files.length > 0 || !read.checked.ok);
  return {
    env: io.env,
    folder,
    isNamed: named !== undefined,
    stateDir: findStateDir(io.env),
    repository,
    read: hasFiles ? read : undefined,
    runbook: hasFiles && read.checked.ok ? read.checked.value : undefined,
    runbookProblems: hasFiles && !read.checked.ok ? read.checked.problems : [],
  };
}

const GIT_MS = 5000;

function gitSilent(error: unknown): GitResult<Repository> {
  const message = `git does not answer: ${error instanceof Error ? error.message : String(error)}`;
  return gitFailure('git/timeout', message, 'Find out what git waits for: git rev-parse --show-toplevel');
}

/** Rejects if the work takes longer. The work itself continues. */
export async function withLimit<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const over = new AbortController();
  const late = async (): Promise<never> => {
    await delay(limitMs, undefined, { signal: over.signal });
    throw new TookTooLongError(`took more than ${limitMs / 1000} s`);
  };
  try {
    return await Promise.race([work, late()]);
  } finally {
    over.abort();
  }
}

export class TookTooLongError extends Error {}
