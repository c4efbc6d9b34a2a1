import { statSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of a repository, from any of its worktrees. */
export interface GitFolders {
  /** The top of the worktree; the repository itself if it is bare. */
  readonly top: string;
  readonly gitDir: string;
  /** The git folder shared by all worktrees. */
  readonly commonDir: string;
}

/**
 * What git answered about the folders of a repository. A session's start and each `baton status` ask for them many
 * times, and a git process costs some milliseconds. An answer is used again as long as the files that determine it are
 * the same: those that git reads to find a repository, and its configuration, which can name another worktree.
 */
const known = new Map<string, { readonly mark: string; readonly folders: GitFolders; mainTop?: string }>();
const MOST = 1000;

/** Returns git's last answer for a folder; undefined if git must be asked. */
export function findKnownFolders(folder: string): GitFolders | undefined {
  const last = known.get(folder);
  if (last === undefined) return undefined;
  if (last.mark === readMark(folder, last.folders)) return last.folders;
  known.delete(folder);
  return undefined;
}

/** Returns the top of the main worktree, from git's last answer about a linked one. */
export function findKnownMainTop(folder: string): string | undefined {
  return findKnownFolders(folder) === undefined ? undefined : known.get(folder)?.mainTop;
}

export function keepMainTop(folder: string, mainTop: string): void {
  const last = known.get(folder);
  if (last !== undefined) last.mainTop = mainTop;
}

/** Keeps git's answer for the top of a worktree. Git searches upwards for other folders, so nothing marks their answer. */
export function keepFolders(folder: string, folders: GitFolders): void {
  const mark = readMark(folder, folders);
  if (mark === undefined) return;
  if (known.size >= MOST) known.clear();
  known.set(folder, { mark, folders });
}

/** Describes the files that determine git's answer; undefined if the folder is not the top of a worktree. */
function readMark(folder: string, { gitDir, commonDir }: GitFolders): string | undefined {
  const own = statSync(join(folder, '.git'), { throwIfNoEntry: false });
  if (own === undefined) return undefined;
  const content = [
    ...(own.isFile() ? [join(folder, '.git')] : []),
    join(gitDir, 'commondir'),
    join(gitDir, 'gitdir'),
    join(gitDir, 'config.worktree'),
    join(commonDir, 'config'),
  ];
  const existing = [
    folder,
    gitDir,
    join(gitDir, 'HEAD'),
    commonDir,
    join(commonDir, 'objects'),
    join(commonDir, 'refs'),
  ];
  return [own.ino, ...content.map(describeContent), ...existing.map(describeExistence)].join(' ');
}

function describeContent(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '-' : `${found.ino}:${found.ctimeNs}:${found.size}`;
}

/** Files below these folders change all the time, and `HEAD` is replaced by every commit's checkout. */
function describeExistence(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '-' : String(found.uid);
}
