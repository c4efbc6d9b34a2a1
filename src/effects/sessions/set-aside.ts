import { cp, lstat, mkdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { makeSnapshot, readSnapshot } from '../../git/own/snapshot.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import { attempt, gitFailure, gitFields, type GitResult, unwrap } from '../../git/run-git.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import { writeChanges } from '../travel/restore-files.ts';

export interface DirtyPlace {
  readonly stateDir: string;
  readonly worktree: string;
  readonly head: string;
}

/** A judging session that worked in the worktree before, with the uncommitted files that it found there. */
export interface JudgingSession {
  readonly taskId: string;
  readonly epoch: number;
  readonly found: string | null;
  readonly base: string;
}

/** The newest session of the task, if it judged in this worktree. */
export function findJudgedBefore({ sessions }: State, task: Task, worktree: string): JudgingSession | undefined {
  const last = task.endings.findLast(({ sessionId }) => sessions.get(sessionId)?.prepared !== undefined);
  const prepared = sessions.get(last?.sessionId ?? '')?.prepared;
  if (last === undefined || prepared?.uncommitted === undefined || prepared.workspace !== worktree) return undefined;
  return { taskId: task.id, epoch: last.epoch, found: prepared.uncommitted, base: prepared.base };
}

/**
 * Moves what a judging session left uncommitted out of the worktree, and restores what it found there: an author that
 * commits everything would else commit the judge's files as its own. Returns the moved paths.
 */
export async function setAside(
  own: OwnRepository,
  { stateDir, worktree, head }: DirtyPlace,
  { taskId, epoch, found, base }: JudgingSession,
): Promise<GitResult<readonly string[]>> {
  const taken = await makeSnapshot(own, { worktree, head });
  if (!taken.ok) return taken;
  const now = taken.value?.sha ?? null;
  if (now === found && (taken.value?.left.length ?? 0) === 0) return { ok: true, value: [] };
  return attempt(async () => {
    const large = taken.value?.left ?? [];
    const tracked =
      large.length === 0
        ? []
        : unwrap(await gitFields(['ls-tree', '-z', '--name-only', head, '--', ...large], { cwd: own }));
    if (tracked.length > 0)
      unwrap(gitFailure('git/failed', `a session that reviewed ${taskId} changed ${tracked.join(', ')}`, HINT));
    const target = found !== null && base === head ? found : head;
    const from = now ?? head;
    const changes = from === target ? [] : unwrap(await readSnapshot(own, { sha: target, head: from }));
    const folder = join(stateDir, 'set-aside', `${taskId}.${epoch}`);
    const paths = [...changes.map(({ path }) => path), ...large];
    for (const path of paths) await moveAside(worktree, path, folder);
    writeChanges(worktree, changes);
    return paths;
  });
}

const HINT = 'Restore the file in the worktree, then answer the decision: baton decision list';

/** A folder that the session replaced by a link leads out of the worktree. */
async function moveAside(worktree: string, path: string, folder: string): Promise<void> {
  const [from, to] = [join(worktree, path), join(folder, path)];
  const parent = await realpath(dirname(from)).catch(() => null);
  const top = await realpath(worktree);
  const isInside = parent !== null && (parent === top || parent.startsWith(top + sep));
  if (!isInside || (await lstat(from).catch(() => null)) === null) return;
  await rm(to, { recursive: true, force: true });
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await rename(from, to);
  } catch {
    // The state folder is on another disk.
    await cp(from, to, { recursive: true, verbatimSymlinks: true });
    await rm(from, { recursive: true });
  }
}

/** The uncommitted files that a judging session finds, as a snapshot; null if there are none. */
export async function findUncommitted(
  own: OwnRepository,
  { worktree, head }: Omit<DirtyPlace, 'stateDir'>,
): Promise<GitResult<string | null>> {
  const taken = await makeSnapshot(own, { worktree, head });
  return taken.ok ? { ok: true, value: taken.value?.sha ?? null } : taken;
}
