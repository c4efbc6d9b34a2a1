import { isDiskFaultText, isShortageText } from '../../protocol/shortage.ts';
import type { Launch } from '../../supervisor/contract.ts';
import { waitForStart, type FoundStart } from './follow-start.ts';
import { spawnSupervisor, type SpawnedSupervisor, type SpawnOptions } from './spawn-supervisor.ts';
import type { SupervisedFiles } from './supervised.ts';

export interface StartSupervisorOptions extends SpawnOptions {
  readonly signal: AbortSignal;
  readonly startMs: number;
  readonly onSpawned?: (spawned: SpawnedSupervisor) => void;
}

export interface StartedSupervisor {
  readonly spawned: SpawnedSupervisor;
  /** Undefined where it was called off. */
  readonly settling: FoundStart | undefined;
}

/**
 * Starts a supervisor, and waits until what it supervises runs. One that ended before it took the start, because it was killed or there was no
 * memory, has run nothing: another is started in its place, a few times.
 */
export async function startSupervisor(
  files: SupervisedFiles,
  launch: Launch,
  { signal, startMs, onSpawned, ...options }: StartSupervisorOptions,
): Promise<StartedSupervisor> {
  for (let left = TRIES - 1; ; left -= 1) {
    const spawned = spawnSupervisor(files, launch, options);
    onSpawned?.(spawned);
    const settling = await waitForStart({ files, start: launch.start, spawned, signal }, startMs);
    if (settling?.found.kind !== 'untaken') return { spawned, settling };
    refuseWithoutRoom(settling);
    if (left === 0) return { spawned, settling };
  }
}

/**
 * Throws if a supervisor gave the start back for want of room: nothing was run, and nothing is wrong with what was to be run, so that the effect is
 * tried again later. A supervisor of an earlier daemon, whose words nobody heard, gives a start back for no other reason.
 */
export function refuseWithoutRoom({ found, words = START_RETURNED }: FoundStart): void {
  const isRoom = isShortageText(words) || isDiskFaultText(words);
  if (found.kind === 'untaken' && isRoom) throw Object.assign(new Error(words), { code: 'EAGAIN' });
}

const START_RETURNED = 'EAGAIN: a supervisor had no room for its files, and gave the start back';
const TRIES = 3;
