import { dirname, join, resolve } from 'node:path';
import { readFileIfPresent } from '../../api/files.ts';

/**
 * Reads the checked-out commit from git's files, since a stop hook has no time to start a process. Undefined if there
 * is none.
 */
export function readGitHead(cwd: string): string | undefined {
  const gitDir = findGitDir(cwd);
  if (gitDir === undefined) return undefined;
  const head = read(join(gitDir, 'HEAD'));
  if (!head.startsWith('ref: ')) return head || undefined;
  const name = head.slice('ref: '.length);
  // A worktree has its own HEAD, but its branches are in the main repository.
  const common = read(join(gitDir, 'commondir'));
  const repository = common === '' ? gitDir : resolve(gitDir, common);
  return read(join(gitDir, name)) || read(join(repository, name)) || findPacked(repository, name);
}

function findGitDir(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    if (read(join(git, 'HEAD')) !== '') return git;
    const link = read(git);
    if (link.startsWith('gitdir: ')) return resolve(folder, link.slice('gitdir: '.length));
    if (folder === dirname(folder)) return undefined;
  }
}

function findPacked(repository: string, name: string): string | undefined {
  const line = read(join(repository, 'packed-refs'))
    .split('\n')
    .find((packed) => packed.endsWith(` ${name}`));
  return line?.split(' ', 1)[0];
}

function read(path: string): string {
  return readFileIfPresent(path).trim();
}
