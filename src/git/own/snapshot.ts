import { createHash } from 'node:crypto';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { attempt, git, gitFailure, type GitResult, gitText, unwrap } from '../run-git.ts';
import { readInside } from '../worktree/read-inside.ts';
import { type UnhiddenFiles, withUnhiddenFiles } from '../worktree/unhidden-files.ts';
import { type OwnRepository, runOwnGit } from './own-repository.ts';

export interface Snapshot {
  readonly sha: string;
  /** Files that were left out because they are too large or too many. */
  readonly left: readonly string[];
}

/**
 * Commits the uncommitted files of a worktree on top of `head`, in Baton's own repository; null if there are none.
 * Ignored files are left out, bytes are taken unchanged, and the worktree's index is not used. The same files give the
 * same commit.
 */
export async function makeSnapshot(
  own: OwnRepository,
  { worktree, head }: { readonly worktree: string; readonly head: string },
): Promise<GitResult<Snapshot | null>> {
  const { stateDir } = own;
  return attempt(async () => {
    const found = unwrap(
      await withUnhiddenFiles(worktree, { stateDir, rulesAt: head, own }, async (view) =>
        attempt(async () => listChanges(view, head)),
      ),
    );
    const { files, left } = await readFiles(worktree, found);
    if (files.length === 0) return null;
    const date = unwrap(await gitText(['log', '-1', '--format=%ct', head, '--'], { cwd: own }));
    const key = createHash('sha256').update(worktree).digest('hex').slice(0, 16);
    const input = renderCommit(files, { head, date, ref: `refs/snapshots/${key}` });
    const made = unwrap(await runOwnGit(own, ['fast-import', '--quiet', '--force', '--done'], { input }));
    const sha = made.stdout.trim();
    if (!/^[0-9a-f]{40,64}$/.test(sha))
      unwrap(gitFailure('git/failed', `no snapshot of '${worktree}': ${made.stderr}`, 'Check the disk: df -h'));
    return { sha, left };
  });
}

async function listChanges(view: UnhiddenFiles, head: string): Promise<readonly string[]> {
  const args = ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', '--ignore-submodules=all', head, '--'];
  return [...unwrap(await view.list(...args)), ...unwrap(await view.untracked())];
}

interface SnapshotFile {
  readonly path: string;
  /** Null if the file was removed. */
  readonly content: Buffer | null;
  readonly mode: '100644' | '100755' | '120000';
}

async function readFiles(
  worktree: string,
  paths: readonly string[],
): Promise<{ readonly files: readonly SnapshotFile[]; readonly left: readonly string[] }> {
  const files: SnapshotFile[] = [];
  const left: string[] = [];
  let room = MOST_BYTES;
  for (const path of new Set(paths)) {
    const file = files.length < MOST_FILES ? await readOne(worktree, path, Math.min(room, MOST_FILE_BYTES)) : null;
    if (file === null) left.push(path);
    else if (file !== undefined) {
      files.push(file);
      room -= file.content?.length ?? 0;
    }
  }
  return { files, left };
}

/**
 * Returns null if the file exceeds the limit, and undefined if it is not a regular file. Does not follow links, because
 * the agent may still work.
 */
async function readOne(worktree: string, path: string, mostBytes: number): Promise<SnapshotFile | null | undefined> {
  const full = join(worktree, path);
  const stats = await lstat(full).catch(() => undefined);
  if (stats === undefined) return { path, content: null, mode: '100644' };
  if (stats.isSymbolicLink()) {
    const [top, folder] = await Promise.all([realpath(worktree), realpath(dirname(full)).catch(() => '')]);
    if (folder !== top && !folder.startsWith(top + sep)) return undefined;
    const target = await readlink(full, 'buffer').catch(() => undefined);
    return target && { path, content: target, mode: '120000' };
  }
  if (!stats.isFile()) return undefined;
  if (stats.size > mostBytes) return null;
  const content = await readInside(worktree, path, mostBytes);
  return content && { path, content, mode: (stats.mode & 0o100) === 0 ? '100644' : '100755' };
}

const MOST_FILES = 5000;
const MOST_FILE_BYTES = 16 * 1024 * 1024;
const MOST_BYTES = 64 * 1024 * 1024;

/** Renders the input of `git fast-import`. Removals come first, because a folder may have replaced a file. */
function renderCommit(
  files: readonly SnapshotFile[],
  { head, date, ref }: { readonly head: string; readonly date: string; readonly ref: string },
): Buffer {
  const message = 'Uncommitted work of a session';
  const start = `commit ${ref}\nmark :1\ncommitter Baton <baton@localhost> ${date} +0000\ndata ${message.length}\n${message}\nfrom ${head}\n`;
  const parts: Buffer[] = [Buffer.from(start)];
  for (const { path, content } of files) if (content === null) parts.push(Buffer.from(`D ${quotePath(path)}\n`));
  for (const { path, content, mode } of files) {
    if (content === null) continue;
    parts.push(Buffer.from(`M ${mode} inline ${quotePath(path)}\ndata ${content.length}\n`), content, NEW_LINE);
  }
  parts.push(Buffer.from('\nget-mark :1\ndone\n'));
  return Buffer.concat(parts);
}

const NEW_LINE = Buffer.from('\n');

function quotePath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
}

export interface SnapshotChange {
  readonly path: string;
  readonly content: Buffer | null;
  readonly mode: string;
}

/** Reads the files in which a snapshot differs from its parent. Submodules are skipped. */
export async function readSnapshot(
  own: OwnRepository,
  { sha, head }: { readonly sha: string; readonly head: string },
): Promise<GitResult<readonly SnapshotChange[]>> {
  return attempt(async () => {
    const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', head, sha, '--'];
    const fields = unwrap(await git(args, { cwd: own })).stdout.split('\0');
    const changes: SnapshotChange[] = [];
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const [, mode = '', blob = '', status] = /^:\d+ (\d+) \S+ (\S+) (\w)/.exec(fields[i] ?? '') ?? [];
      const path = fields[i + 1] ?? '';
      if (status === 'D') changes.push({ path, content: null, mode });
      else if (mode !== '160000') changes.push({ path, content: await readBlob(own, blob), mode });
    }
    return changes.toSorted((a, b) => Number(a.content !== null) - Number(b.content !== null));
  });
}

async function readBlob(own: OwnRepository, blob: string): Promise<Buffer> {
  const options = { encoding: 'latin1', maxBytes: MOST_BYTES } as const;
  return Buffer.from(unwrap(await runOwnGit(own, ['cat-file', 'blob', blob], options)).stdout, 'latin1');
}
