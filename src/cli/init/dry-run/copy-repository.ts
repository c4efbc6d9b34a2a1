import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { attempt, git, gitFailure, type GitResult, gitText, unwrap } from '../../../git/run-git.ts';
import { RUNBOOK_PATHS } from '../../../runbook/read/read-runbook.ts';
import type { RunbookFile } from '../../../runbook/runbook.ts';
import { isShallow } from '../branch.ts';

export interface CopySource {
  readonly top: string;
  /** The git folder shared by all worktrees. */
  readonly commonDir: string;
  readonly branch: string;
  /** The branch's newest commit; null if it has none. */
  readonly sha: string | null;
}

/** Copies the main branch without remotes, so that nothing in the copy affects the repository or its remotes. */
export async function copyRepository(source: CopySource, to: string): Promise<GitResult<void>> {
  const { top, commonDir, branch, sha } = source;
  return attempt(async () => {
    if (isShallow(source)) unwrap(gitFailure('git/shallow-repository', `'${top}' is a shallow clone`, UNSHALLOW));
    mkdirSync(to);
    const format = unwrap(await gitText(['rev-parse', '--show-object-format'], { cwd: top }));
    const init = ['init', '--quiet', '--template=', `--object-format=${format}`, `--initial-branch=${branch}`];
    unwrap(await git(init, { cwd: to }));
    if (sha === null) return;
    const fetch = ['fetch', '--quiet', '--no-tags', top, `${sha}:refs/heads/${branch}`, '--update-head-ok'];
    unwrap(await git(fetch, { cwd: to, timeoutMs: COPY_MS }));
    unwrap(await git(['reset', '--quiet', '--hard'], { cwd: to, timeoutMs: COPY_MS }));
    // Checkouts of submodules read the clones there but write nothing.
    const modules = join(commonDir, 'modules');
    if (existsSync(modules)) symlinkSync(modules, join(to, '.git', 'modules'));
  });
}

/** Replaces all runbooks of the commit by one file. */
export async function commitRunbook(folder: string, { path, text }: RunbookFile): Promise<GitResult<void>> {
  return attempt(async () => {
    unwrap(await git(['rm', '-r', '--quiet', '--ignore-unmatch', '--', ...RUNBOOK_PATHS], { cwd: folder }));
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    unwrap(await git(['add', '--force', path], { cwd: folder }));
    const author = ['-c', 'user.name=baton', '-c', 'user.email=baton@localhost', '-c', 'commit.gpgSign=false'];
    unwrap(await git([...author, 'commit', '--quiet', '--message=The runbook of the dry run'], { cwd: folder }));
  });
}

const UNSHALLOW = 'Baton needs the whole history: git fetch --unshallow';
const COPY_MS = 300_000;
