import type { SandboxSpec } from '../../protocol/sandbox.ts';
import { processesInside } from '../bubblewrap/processes-inside.ts';
import { freeBytes, mapsDeletedFiles, measureDeleted, measureFolders, sumOf } from './measure-folders.ts';

/**
 * Ends a session that exceeds its disk limit. `leader`: its process; undefined in a terminal. `onOver` receives the
 * line for its log.
 */
export function watchDisk(
  { measured, shared, limits: { disk_bytes: limitBytes } }: Pick<SandboxSpec, 'measured' | 'shared' | 'limits'>,
  leader: number | undefined,
  onOver: (line: string) => void,
): DiskWatch {
  return new DiskWatch({
    folders: measured,
    shared,
    limitBytes,
    pids: () => (leader === undefined ? [] : processesInside(leader)),
    onOver: () =>
      onOver(`baton: the session has written more than ${limitBytes} bytes (sandbox.disk), so Baton ends the session.`),
  });
}

export interface DiskWatchOptions {
  readonly folders: readonly string[];
  /** Folders that other processes also write: only changes since the watch began count. */
  readonly shared?: readonly string[];
  readonly limitBytes: number;
  /** The pids of the session: files that its processes have deleted and keep open count too. */
  readonly pids: () => readonly number[];
  /** Called once, when the limit is exceeded. */
  readonly onOver: (usedBytes: number) => void;
  readonly intervalMs?: number;
  /** The folders are measured at least this often. */
  readonly maxAgeMs?: number;
}

/**
 * Watches the size of a session's folders. Reads the free disk space once a second; measures the folders only when that
 * space has shrunk by more than half of the remaining limit, or after `maxAgeMs`.
 */
export class DiskWatch {
  readonly #options: DiskWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #isMeasuring = false;
  #leftBytes = 0;
  #freeBytes = 0;
  #nextMs = 0;
  #latestMs = 0;
  readonly #begunMs = Date.now();
  readonly #freeAtFirst: number;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
    this.#freeAtFirst = this.#free();
    this.#timer = setInterval(() => void this.check(), options.intervalMs ?? INTERVAL_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async check(): Promise<void> {
    const now = performance.now();
    if (this.#isMeasuring) return;
    const grownBytes = this.#freeBytes - this.#free();
    const isDue = now >= this.#latestMs || (now >= this.#nextMs && grownBytes > this.#leftBytes / 2);
    if (!isDue && grownBytes <= this.#leftBytes) return;
    this.#isMeasuring = true;
    try {
      await this.#measure(now);
    } finally {
      this.#isMeasuring = false;
    }
  }

  #disks(): ReadonlyMap<number, number> {
    const { folders, shared = [] } = this.#options;
    return freeBytes([...folders, ...shared]);
  }

  #free(): number {
    return sumOf(this.#disks());
  }

  async #measure(started: number): Promise<void> {
    const { folders, shared = [], limitBytes, pids, onOver, maxAgeMs } = this.#options;
    const free = this.#disks();
    this.#freeBytes = sumOf(free);
    const inside = pids();
    const own = await measureFolders(folders, limitBytes);
    const added = await measureFolders(shared, limitBytes - own.bytes, this.#begunMs);
    const countedBytes = own.bytes + added.bytes + measureDeleted(inside, free);
    // Files that cannot be measured take at most as much as the free space has shrunk.
    const isWhole = own.isWhole && added.isWhole && !inside.some(mapsDeletedFiles);
    const usedBytes = isWhole ? countedBytes : Math.max(countedBytes, this.#freeAtFirst - this.#freeBytes);
    this.#leftBytes = limitBytes - usedBytes;
    const tookMs = performance.now() - started;
    // Pauses in proportion to the time taken, so that measuring never takes most of the time.
    this.#nextMs = performance.now() + PAUSE_FACTOR * tookMs;
    this.#latestMs = performance.now() + (maxAgeMs ?? Math.max(MAX_AGE_MS, 10 * PAUSE_FACTOR * tookMs));
    if (usedBytes <= limitBytes) return;
    this.close();
    onOver(usedBytes);
  }
}

const INTERVAL_MS = 1000;
const MAX_AGE_MS = 30_000;
const PAUSE_FACTOR = 10;
