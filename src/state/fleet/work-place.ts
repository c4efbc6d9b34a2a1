import type { Phase } from '../../protocol/phase.ts';
import type { Event, Events, RecordedEvent } from '../event.ts';

/** The location of a task's work. */
export interface TaskWork {
  /** The host of the last session with a worktree. */
  readonly host: string;
  /** The epoch of that session's claim; 0 while the branch is only named. */
  readonly epoch: number;
  /**
   * The newest work at the remote, of this session or an earlier one: the next session on another host starts from it.
   */
  readonly pushed: PushedWork | null;
  /** Why the last push of this session failed; null after a successful one. */
  readonly failed: string | null;
}

export type PushedWork = Pick<Events['WorkPushed'], 'epoch' | 'host' | 'sha' | 'wip'>;

/** Returns null if no session of the task had a worktree in a fleet. */
export function evolveTaskWork(
  { work, claim, phase }: WorkedTask,
  { type, data }: Pick<RecordedEvent, 'type' | 'data'> & Event,
): TaskWork | null {
  switch (type) {
    case 'BranchNamed':
      return claim === null || claim.host === null ? work : { host: claim.host, epoch: 0, pushed: null, failed: null };
    case 'SessionPrepared':
      // A session that closes a merged task does not change its work.
      if (claim === null || claim.host === null || phase === 'COMPLETED') return work;
      return { host: claim.host, epoch: data.epoch, pushed: work?.pushed ?? null, failed: null };
    case 'WorkPushed': {
      const { epoch, host, sha, wip } = data;
      return { host, epoch, pushed: { epoch, host, sha, wip }, failed: null };
    }
    case 'WorkPushFailed':
      return { host: data.host, epoch: data.epoch, pushed: work?.pushed ?? null, failed: data.reason };
    default:
      return work;
  }
}

/** Reports whether a task's newest work and its worktree are on another host. */
export function isElsewhere({ work }: Pick<WorkedTask, 'work'>, here: { readonly host: string } | undefined): boolean {
  return here !== undefined && work !== null && work.host !== here.host;
}

interface WorkedTask {
  readonly work: TaskWork | null;
  readonly claim: { readonly host: string | null } | null;
  readonly phase: Phase;
}
