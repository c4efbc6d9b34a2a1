import type { ObjectFormat } from '../own/own-repository.ts';
import { findMainBranch, findNewerMain, findSha, type MainBranchHead } from '../repository.ts';
import { attempt, gitFailure, gitLines, type GitResult, gitText, unwrap } from '../run-git.ts';
import { type IgnoreFile, readIgnoreFiles } from './ignore-rules.ts';

/** Facts that all worktrees of a repository share. Each is read once, on first use, because git takes long to start. */
export interface SharedFacts {
  readonly objectFormat: () => Promise<GitResult<ObjectFormat>>;
  readonly main: () => Promise<GitResult<MainBranchHead>>;
  /** The main branch, at its remote copy if that is ahead. */
  readonly newestMain: () => Promise<GitResult<MainBranchHead>>;
  /** The ignore files of the main branch. */
  readonly ignoreFiles: () => Promise<GitResult<IgnoreFile[]>>;
  readonly stashMessages: () => Promise<GitResult<string[]>>;
  readonly remotes: () => Promise<GitResult<string[]>>;
}

export function createSharedFacts(folder: string, mainBranch: string | undefined): SharedFacts {
  const main = once(async () => findMainBranch(folder, mainBranch));
  return {
    main,
    newestMain: once(async () => {
      const local = await main();
      return local.ok ? findNewerMain(folder, local.value) : local;
    }),
    ignoreFiles: once(async () => attempt(async () => unwrap(await readIgnoreFiles(folder, unwrap(await main()).sha)))),
    objectFormat: once(async () => readObjectFormat(folder)),
    stashMessages: once(async () => readStashMessages(folder)),
    remotes: once(async () => gitLines(['remote'], { cwd: folder })),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return async () => (value ??= read());
}

async function readObjectFormat(folder: string): Promise<GitResult<ObjectFormat>> {
  const format = await gitText(['rev-parse', '--show-object-format'], { cwd: folder });
  if (!format.ok) return format;
  if (format.value === 'sha1' || format.value === 'sha256') return { ok: true, value: format.value };
  return gitFailure('git/odd-path', `'${folder}' has an invalid git folder`, 'Check its .git file.');
}

/** Stashes belong to the repository. Their messages name the branch. */
async function readStashMessages(folder: string): Promise<GitResult<string[]>> {
  if ((await findSha(folder, 'refs/stash')) === null) return { ok: true, value: [] };
  const args = ['log', '--walk-reflogs', '--format=%gs', '--no-show-signature', 'refs/stash', '--'];
  return gitLines(args, { cwd: folder });
}
