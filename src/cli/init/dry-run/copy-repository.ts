import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt, git, type GitResult, unwrap } from '../../../git/run-git.ts';

export interface CopySource {
  readonly top: string;
  readonly branch: string;
  /** The newest commit of that branch; null if it has none. */
  readonly sha: string | null;
}

/** Copies the main branch, without remotes: nothing that happens to the copy reaches the repository or its remotes. */
export async function copyRepository({ top, branch, sha }: CopySource, to: string): Promise<GitResult<void>> {
  return attempt(async () => {
    mkdirSync(to);
    unwrap(await git(['init', '--quiet', `--initial-branch=${branch}`], { cwd: to }));
    if (sha === null) return;
    const fetch = ['fetch', '--quiet', '--no-tags', top, `${sha}:refs/heads/${branch}`, '--update-head-ok'];
    unwrap(await git(fetch, { cwd: to, timeoutMs: COPY_MS }));
    unwrap(await git(['reset', '--quiet', '--hard'], { cwd: to, timeoutMs: COPY_MS }));
  });
}

export async function commitRunbook(folder: string, text: string): Promise<GitResult<void>> {
  return attempt(async () => {
    writeFileSync(join(folder, 'baton.toml'), text);
    unwrap(await git(['add', '--force', 'baton.toml'], { cwd: folder }));
    const author = ['-c', 'user.name=baton', '-c', 'user.email=baton@localhost', '-c', 'commit.gpgSign=false'];
    unwrap(await git([...author, 'commit', '--quiet', '--message=The runbook of the dry run'], { cwd: folder }));
  });
}

const COPY_MS = 300_000;
