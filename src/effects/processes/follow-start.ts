import { setTimeout as sleep } from 'node:timers/promises';
import type { SpawnedSupervisor } from './spawn-supervisor.ts';
import { inspectSupervised, type SupervisedProcess, type SupervisedFiles } from './supervised.ts';

export interface PollStartOptions {
  readonly files: SupervisedFiles;
  readonly start: number;
  /** Undefined where an earlier daemon started the supervisor. */
  readonly spawned: SpawnedSupervisor | undefined;
  readonly signal: AbortSignal;
}

/** What becomes of a start: it runs, it has ended, or its supervisor has failed. Undefined where it was called off. */
export async function waitForStart(following: PollStartOptions, deadlineMs: number): Promise<FoundStart | undefined> {
  const until = performance.now() + deadlineMs;
  return pollStart(following, ({ kind }) => kind !== 'starting' || performance.now() > until);
}

/** The end of a supervised process, or of its supervisor. Undefined where it was called off. */
export async function waitForEnd(following: PollStartOptions): Promise<FoundStart | undefined> {
  return pollStart(following, ({ kind }) => kind !== 'starting' && kind !== 'running');
}

export interface FoundStart {
  readonly found: SupervisedProcess;
  /** What the supervisor said last, where it has ended and was ours. */
  readonly words: string | undefined;
}

/**
 * Supervisors say themselves how it goes, and then whatever we wait for is settled: looking at the folder is for the case that
 * they cannot. So it is looked at less and less often, and at once where a supervisor of ours has ended.
 */
async function pollStart(
  { files, start, spawned, signal }: PollStartOptions,
  isOver: (found: SupervisedProcess) => boolean,
): Promise<FoundStart | undefined> {
  let words: string | undefined;
  const ended = spawned?.ended.then((said) => {
    words = said;
  });
  for (let waitMs = FIRST_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LAST_MS)) {
    const saidLast = words;
    // Our own supervisor is known to be there until we hear of its end: no need to look for it among all processes.
    const found = inspectSupervised(files, start, spawned !== undefined && words === undefined);
    if (isOver(found) || saidLast !== undefined) return { found, words: saidLast };
    const pause = sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race(ended === undefined ? [pause] : [pause, ended]);
  }
  return undefined;
}

const FIRST_MS = 50;
const LAST_MS = 1000;
