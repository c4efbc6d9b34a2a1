import { closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import type { GitResult } from '../run-git.ts';
import { readAgentFile } from './agent-files.ts';
import { mergeRefs } from './carried-refs.ts';
import { readKnown, readSnapshotText, writeKnown, writeSnapshot } from './known.ts';
import { placeOf } from './move-refs.ts';
import { branchOfHead, parsePackedRefs, readHead, type Refs, renderPackedRefs, stampOf } from './private-refs.ts';
import { readUserRefs } from './user-repository.ts';

/**
 * Updates a running session's view of the user's repository: main after a merge, remote-tracking branches after a
 * fetch. The session's own changes stay. `busy`: a git process of the session is writing its refs.
 */
export async function refreshPrivateGit(git: PrivateGit): Promise<GitResult<'fresh' | 'busy'>> {
  const found = await readUserRefs(placeOf(git));
  return found.ok ? { ok: true, value: refreshRefs(git, found.value.packedRefs, 'running') } : found;
}

/** Writes only `packed-refs`, with git's own lock. A loose ref of the session takes precedence. */
export function refreshRefs(git: PrivateGit, snapshot: string, session: 'running' | 'not running'): 'fresh' | 'busy' {
  const gitDir = join(git.folder, 'git');
  const path = join(gitDir, 'packed-refs');
  const lock = `${path}.lock`;
  const earlier = readSnapshotText(git.folder);
  if (session === 'not running') rmSync(lock, { recursive: true, force: true });
  if (snapshot === earlier) return 'fresh';
  const file = createLock(lock);
  if (file === null) return 'busy';
  try {
    const parse = (text: string): Refs => parsePackedRefs(text, git.format);
    const packed = parse(readAgentFile(path, MOST_BYTES) ?? '');
    const wasSynced = readKnown(git.folder)?.stamp === stampOf(git.folder);
    const current = branchOfHead(readHead(gitDir));
    writeFileSync(file, renderPackedRefs(mergeRefs(packed, parse(earlier), parse(snapshot), current)));
    renameSync(lock, path);
    writeSnapshot(git.folder, snapshot);
    const known = readKnown(git.folder);
    // Unsynced changes must stay detectable.
    if (known !== null && wasSynced) writeKnown({ ...known, stamp: stampOf(git.folder) });
    return 'fresh';
  } finally {
    closeSync(file);
    rmSync(lock, { force: true });
  }
}

function createLock(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644);
  } catch {
    return null;
  }
}

const MOST_BYTES = 64 * 1024 * 1024;
