import { type FSWatcher, watch } from 'node:fs';
import { findKept, listKept, openKept } from '../api/outbox.ts';
import { makeFolder } from '../api/state-folder.ts';
import { KeptCallDelivery, type KeptCallOptions } from './deliver-kept.ts';
import {
  EVERY_SESSION,
  keptCallId,
  type KeptFile,
  type Lane,
  type LaneEnd,
  laneKey,
  type LaneRun,
  mayCollide,
  OutboxLanes,
  sumOf,
} from './outbox-lanes.ts';
import { causeOf } from './log.ts';
import type { CallerIdentity } from './tokens.ts';

export interface Delivered {
  readonly delivered: number;
  readonly refused: number;
  readonly waiting: number;
}

interface OutboxDeliveryOptions extends KeptCallOptions {
  /** Whether the database of a project is known to be unavailable. Then no delivery is tried. */
  readonly isAway?: (projectId: string) => boolean;
}

/**
 * Delivers the calls that were kept while no daemon ran or answered, each with its key. The calls of one session form a
 * lane: they are delivered in order, and a call that cannot be accepted yet delays those behind it, but no other
 * session. Lanes are delivered together, so that their entries share commits. A refused call is set aside for people.
 * After an internal error a call is first retried a few times.
 */
export class OutboxDelivery {
  readonly #options: OutboxDeliveryOptions;
  readonly #running = new Map<string, LaneRun>();
  readonly #placed: OutboxLanes;
  readonly #calls: KeptCallDelivery;
  /** The lanes that wait, with the time since when, on the monotonic clock; and when a file became unreadable. */
  readonly #blocked = new Map<string, { readonly lane: Lane; readonly sinceMs: number }>();
  #unreadableSince: number | undefined;
  #watcher: FSWatcher | undefined;
  #again: NodeJS.Timeout | undefined;
  #delayMs = FIRST_DELAY_MS;
  #isStopped = false;

  constructor(options: OutboxDeliveryOptions) {
    this.#options = options;
    this.#calls = new KeptCallDelivery(options);
    this.#placed = new OutboxLanes({
      outbox: options.outbox,
      identify: (token) => options.tokens.identify(token),
      sessionOf: (projectId, caller) => options.projects.sessionOf(projectId, caller),
    });
  }

  /** Delivers everything. */
  async deliver(): Promise<Delivered> {
    clearTimeout(this.#again);
    this.#again = undefined;
    const isReadable = this.#placed.setCorruptAside(this.#options.log);
    this.#noteReadable(isReadable);
    const ends = await this.#deliverLanes(() => true);
    if (!isReadable || ends.some(({ isWaiting }) => isWaiting)) this.retryLater();
    else this.#delayMs = FIRST_DELAY_MS;
    return { ...sumOf(ends), waiting: listKept(this.#options.outbox).length };
  }

  /** Delivers the calls of the caller's own session, and for an operator or a worker everything. */
  async deliverFor({ project, caller }: CallerIdentity): Promise<Delivered> {
    if (project === undefined) return this.deliver();
    const { isWaiting, ...counts } = await this.#drainLane(this.#placed.laneOf(project, caller));
    return { ...counts, waiting: isWaiting ? 1 : 0 };
  }

  /**
   * Whether a kept call of this project is not recorded yet. Also true if a file is unreadable, because it may hold
   * such a call.
   */
  isWaiting(projectId: string): boolean {
    return this.#isLaneWaiting({ project: projectId, session: EVERY_SESSION });
  }

  /** Returns whether no call of the project is left. */
  async drain(projectId: string): Promise<boolean> {
    await this.#deliverLanes(({ project }) => project === projectId);
    const isWaiting = this.isWaiting(projectId);
    if (isWaiting) this.retryLater();
    return !isWaiting;
  }

  /**
   * Returns whether no call of the caller's session is left. If one is left, a direct call would overtake earlier ones.
   */
  async drainFor({ project, caller }: CallerIdentity): Promise<boolean> {
    return project === undefined || !(await this.#drainLane(this.#placed.laneOf(project, caller))).isWaiting;
  }

  blockedMs(projectId: string): number {
    const own = [...this.#blocked.values()].filter(({ lane }) => lane.project === projectId);
    const since = Math.min(this.#unreadableSince ?? Infinity, ...own.map(({ sinceMs }) => sinceMs));
    return Math.max(0, performance.now() - since);
  }

  /** Delivers each call soon after it was kept. If the folder cannot be watched, the regular check finds the call. */
  listen(): void {
    const { outbox } = this.#options;
    let isNoted = false;
    try {
      makeFolder(outbox);
      this.#watcher = watch(outbox, () => {
        if (!isNoted) setImmediate(() => ((isNoted = false), this.deliverIfAny()));
        isNoted = true;
      });
      this.#watcher.on('error', () => undefined);
    } catch {
      return;
    }
  }

  /**
   * A caller may keep its call just after the daemon has looked. That call is delivered too, and does not wait for the
   * lanes that are retried later.
   */
  deliverIfAny(): void {
    if (this.#isStopped) return;
    const names = findKept(this.#options.outbox);
    this.#noteReadable(names !== undefined);
    if (names?.length === 0) return;
    if (this.#again === undefined && this.#running.size === 0) void this.deliver();
    else void this.#deliverLanes((lane) => !this.#blocked.has(laneKey(lane)));
  }

  /** No event reports that a store is available again, so delivery is retried, less and less often. */
  retryLater(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.deliver(), this.#delayMs).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, LAST_DELAY_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#watcher?.close();
    clearTimeout(this.#again);
    await Promise.all([...this.#running.values()].map(async ({ end }) => end));
  }

  async #deliverLanes(isWanted: (lane: Lane) => boolean): Promise<readonly LaneEnd[]> {
    const { log } = this.#options;
    await this.#openProjects(isWanted);
    const { files } = this.#placed.scan();
    const lanes = this.#placed.lanesOf(files).filter(isWanted);
    const ends = await Promise.all(lanes.map(async (lane) => this.#run(lane, files)));
    const { delivered, refused } = sumOf(ends);
    if (delivered + refused > 0) log.info('kept calls were delivered', { delivered, refused, lanes: lanes.length });
    return ends;
  }

  /** Only the state of an open project tells for which session an agent works. */
  async #openProjects(isWanted: (lane: Lane) => boolean): Promise<void> {
    const closed = new Set<string>();
    for (const file of this.#placed.scan().files) {
      const lane = this.#placed.laneOfFile(file);
      if (lane.session === EVERY_SESSION && file.identity?.project !== undefined && isWanted(lane))
        closed.add(lane.project);
    }
    await Promise.allSettled([...closed].map(async (project) => this.#options.projects.find(project)));
  }

  #isLaneWaiting(lane: Lane): boolean {
    const { files, isComplete } = this.#placed.scan();
    return !isComplete || this.#unsettled(files, lane).length > 0;
  }

  #unsettled(files: readonly KeptFile[], lane: Lane): readonly KeptFile[] {
    return files.filter((file) => mayCollide(lane, this.#placed.laneOfFile(file)) && !this.#calls.isSettled(file.id));
  }

  async #drainLane(lane: Lane): Promise<LaneEnd> {
    if (!this.#isLaneWaiting(lane)) return { delivered: 0, refused: 0, isWaiting: false };
    if (this.#isStopped) return { delivered: 0, refused: 0, isWaiting: true };
    const end = await this.#run(lane);
    if (end.isWaiting) this.retryLater();
    return end;
  }

  #noteReadable(isReadable: boolean): void {
    if (isReadable) this.#unreadableSince = undefined;
    else this.#unreadableSince ??= performance.now();
  }

  /**
   * Runs a lane. A run that has not started yet serves all callers, because each run of a lane waits for its store.
   * `files`: what the outbox has now.
   */
  async #run(lane: Lane, files?: readonly KeptFile[]): Promise<LaneEnd> {
    const key = laneKey(lane);
    const before = this.#running.get(key);
    if (before?.isBegun === false) return before.end;
    const others = [...this.#running.values()].filter((run) => mayCollide(run.lane, lane));
    const isNow = others.length === 0;
    const begin = (): void => {
      next.isBegun = true;
    };
    const next = { lane, isBegun: isNow, end: this.#runAfter(others, lane, begin, isNow ? files : undefined) };
    this.#running.set(key, next);
    const end = await next.end;
    if (this.#running.get(key) === next) this.#running.delete(key);
    if (!end.isWaiting) this.#blocked.delete(key);
    else if (!this.#blocked.has(key)) this.#blocked.set(key, { lane, sinceMs: performance.now() });
    return end;
  }

  async #runAfter(
    before: readonly LaneRun[],
    lane: Lane,
    begin: () => void,
    files: readonly KeptFile[] | undefined,
  ): Promise<LaneEnd> {
    await Promise.all(before.map(async ({ end }) => end));
    begin();
    return this.#deliverLane(lane, files);
  }

  /** Never rejects, because the next run of the lane waits for it. */
  async #deliverLane(lane: Lane, given: readonly KeptFile[] | undefined): Promise<LaneEnd> {
    const { outbox, log } = this.#options;
    const counts = { delivered: 0, refused: 0 };
    if (this.#options.isAway?.(lane.project) === true) return { ...counts, isWaiting: true };
    const { files, isComplete } = given === undefined ? this.#placed.scan() : { files: given, isComplete: true };
    if (!isComplete) return { ...counts, isWaiting: true };
    for (const { name, id } of this.#unsettled(files, lane)) {
      if (this.#isStopped) return { ...counts, isWaiting: true };
      const opened = openKept(outbox, name);
      if (opened.kind === 'unreadable') return { ...counts, isWaiting: true };
      if (opened.kind !== 'call' || keptCallId(name, opened.call) !== id) continue;
      try {
        const outcome = await this.#calls.deliver(name, opened.call);
        if (outcome === 'waits') return { ...counts, isWaiting: true };
        counts[outcome] += 1;
      } catch (error) {
        log.error('a kept call cannot be delivered', { name, cause: causeOf(error) });
        return { ...counts, isWaiting: true };
      }
    }
    return { ...counts, isWaiting: false };
  }
}

const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 30_000;
