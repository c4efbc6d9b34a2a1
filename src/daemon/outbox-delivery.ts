import type { Answer } from '../api/answer.ts';
import { findKept, listKept, openKept, removeKept, setAsideKept, type KeptCall } from '../api/outbox.ts';
import { dispatchCall, type DispatchOptions } from './dispatch.ts';
import { keptCallId, OutboxLanes } from './outbox-lanes.ts';
import { causeOf } from './log.ts';
import type { AccessTokens } from './tokens.ts';

export interface Delivered {
  readonly delivered: number;
  readonly refused: number;
  readonly waiting: number;
}

interface OutboxDeliveryOptions extends DispatchOptions {
  readonly tokens: AccessTokens;
  /** Whether the database of a project is known to be unavailable. Then no delivery is tried. */
  readonly isAway?: (projectId: string) => boolean;
}

/**
 * Delivers the calls that were kept while no daemon ran, each with its key. The calls of one project form a lane: they
 * are delivered in order, and a call that its store cannot accept yet delays those behind it, but no other project. A
 * refused call is set aside for people. After an internal error a call is first retried a few times.
 */
export class OutboxDelivery {
  readonly #options: OutboxDeliveryOptions;
  readonly #lanes = new Map<string, { readonly end: Promise<LaneEnd>; readonly isBegun: boolean }>();
  readonly #placed: OutboxLanes;
  /** Settled calls whose files could not be removed. */
  readonly #settled = new Set<string>();
  readonly #failures = new Map<string, number>();
  /** When each lane became blocked, and when a file became unreadable, on the monotonic clock. */
  readonly #blockedSince = new Map<string, number>();
  #unreadableSince: number | undefined;
  #underWay = 0;
  #again: NodeJS.Timeout | undefined;
  #delayMs = FIRST_DELAY_MS;
  #isStopped = false;

  constructor(options: OutboxDeliveryOptions) {
    this.#options = options;
    this.#placed = new OutboxLanes(options.outbox, (call) => this.#laneOf(call));
  }

  async deliver(): Promise<Delivered> {
    this.#underWay += 1;
    try {
      return await this.#deliverAll();
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * Whether a kept call of this project is not recorded yet. Also true if a file is unreadable, because it may hold
   * such a call.
   */
  isWaiting(projectId: string): boolean {
    const names = findKept(this.#options.outbox);
    return names === undefined || names.some((name) => this.#mayBeOf(projectId, name));
  }

  /**
   * Returns whether no call is left. If one is left, a direct call would overtake earlier calls of the same session.
   */
  async drain(projectId: string): Promise<boolean> {
    if (!this.isWaiting(projectId)) return true;
    if (this.#isStopped) return false;
    const { isWaiting } = await this.#run(projectId);
    if (isWaiting) this.retryLater();
    return !isWaiting;
  }

  blockedMs(projectId: string): number {
    const since = Math.min(this.#blockedSince.get(projectId) ?? Infinity, this.#unreadableSince ?? Infinity);
    return Math.max(0, performance.now() - since);
  }

  /** A caller may keep its call just after the daemon has looked. That call is delivered too. */
  deliverIfAny(): void {
    if (this.#isStopped || this.#underWay > 0 || this.#again !== undefined) return;
    const names = findKept(this.#options.outbox);
    this.#noteReadable(names !== undefined);
    if (names === undefined || names.length > 0) void this.deliver();
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
    clearTimeout(this.#again);
    await Promise.all([...this.#lanes.values()].map(async ({ end }) => end));
  }

  async #deliverAll(): Promise<Delivered> {
    const { outbox, log } = this.#options;
    clearTimeout(this.#again);
    this.#again = undefined;
    const found = this.#findLanes();
    const ends = await Promise.all([...found.lanes].map(async (lane) => this.#run(lane)));
    const delivered = ends.reduce((sum, end) => sum + end.delivered, 0);
    const refused = ends.reduce((sum, end) => sum + end.refused, 0);
    if (delivered + refused > 0) log.info('kept calls were delivered', { delivered, refused });
    if (!found.isComplete || ends.some(({ isWaiting }) => isWaiting)) this.retryLater();
    else this.#delayMs = FIRST_DELAY_MS;
    return { delivered, refused, waiting: listKept(outbox).length };
  }

  #findLanes(): { readonly lanes: ReadonlySet<string>; readonly isComplete: boolean } {
    const { outbox, log } = this.#options;
    const lanes = new Set<string>();
    const names = findKept(outbox);
    let isComplete = names !== undefined;
    if (!isComplete) log.error('the outbox cannot be read', { path: outbox });
    for (const name of names ?? []) {
      const found = this.#placed.readLane(name);
      if (found.kind === 'call') lanes.add(found.lane);
      if (found.kind === 'corrupt') this.#setCorruptAside(name);
      if (found.kind !== 'unreadable') continue;
      isComplete = false;
      log.error('a kept call cannot be read yet', { name, code: found.code });
    }
    this.#noteReadable(isComplete);
    return { lanes, isComplete };
  }

  #noteReadable(isReadable: boolean): void {
    if (isReadable) this.#unreadableSince = undefined;
    else this.#unreadableSince ??= performance.now();
  }

  #setCorruptAside(name: string): void {
    const { outbox, log } = this.#options;
    log.error('a kept call cannot be read, and was set aside', { name });
    try {
      setAsideKept(outbox, name, 'corrupt');
    } catch (error) {
      log.error('a kept call cannot be set aside', { name, cause: causeOf(error) });
    }
  }

  /** Tokens of sessions, agents and supervisors name their project; operators' calls name its path. */
  #laneOf({ token, projectPath }: KeptCall): string {
    return this.#options.tokens.identify(token)?.project ?? projectPath ?? token;
  }

  #mayBeOf(projectId: string, name: string): boolean {
    const found = this.#placed.readLane(name);
    if (found.kind === 'unreadable') return true;
    return found.kind === 'call' && found.lane === projectId && !this.#settled.has(found.id);
  }

  /** Runs a lane. A run that has not started yet serves all callers, because each run of a lane waits for its store. */
  async #run(lane: string): Promise<LaneEnd> {
    const before = this.#lanes.get(lane);
    if (before?.isBegun === false) return before.end;
    const next = { isBegun: false, end: this.#runAfter(before?.end, lane, () => (next.isBegun = true)) };
    this.#lanes.set(lane, next);
    const end = await next.end;
    if (this.#lanes.get(lane) === next) this.#lanes.delete(lane);
    if (!end.isWaiting) this.#blockedSince.delete(lane);
    else if (!this.#blockedSince.has(lane)) this.#blockedSince.set(lane, performance.now());
    return end;
  }

  async #runAfter(before: Promise<LaneEnd> | undefined, lane: string, begin: () => void): Promise<LaneEnd> {
    await before;
    begin();
    return this.#deliverLane(lane);
  }

  /** Never rejects, because the next run of the lane waits for it. */
  async #deliverLane(lane: string): Promise<LaneEnd> {
    const { outbox, log } = this.#options;
    const counts = { delivered: 0, refused: 0 };
    const names = findKept(outbox);
    if (names === undefined || this.#options.isAway?.(lane) === true) return { ...counts, isWaiting: true };
    for (const name of names) {
      if (this.#isStopped) return { ...counts, isWaiting: true };
      const found = this.#placed.readLane(name);
      if (found.kind === 'unreadable') return { ...counts, isWaiting: true };
      if (found.kind !== 'call' || found.lane !== lane || this.#settled.has(found.id)) continue;
      const opened = openKept(outbox, name);
      if (opened.kind === 'unreadable') return { ...counts, isWaiting: true };
      if (opened.kind !== 'call') continue;
      try {
        const outcome = await this.#deliverOne(name, opened.call);
        if (outcome === 'waits') return { ...counts, isWaiting: true };
        counts[outcome] += 1;
      } catch (error) {
        log.error('a kept call cannot be delivered', { name, cause: causeOf(error) });
        return { ...counts, isWaiting: true };
      }
    }
    return { ...counts, isWaiting: false };
  }

  async #deliverOne(name: string, call: KeptCall): Promise<'delivered' | 'refused' | 'waits'> {
    const { outbox, log } = this.#options;
    const answer = await this.#dispatch(call);
    if (answer.ok) {
      this.#remove(name, call, () => removeKept(outbox, name));
      return 'delivered';
    }
    const { code } = answer.error;
    if (TEMPORARY_CODES.has(code) || (code === 'internal' && this.#mayTryAgain(keptCallId(name, call)))) return 'waits';
    log.error('a kept call was refused, and was set aside', { name, operation: call.operation, code });
    // Omits the token, which is no longer needed.
    const about = JSON.stringify({ ...call, token: undefined, answer });
    this.#remove(name, call, () => setAsideKept(outbox, name, 'refused', about));
    return 'refused';
  }

  async #dispatch({ operation, key, token, projectPath, input, keptAt }: KeptCall): Promise<Answer> {
    const identity = this.#options.tokens.identify(token);
    if (identity === undefined)
      return { ok: false, error: { code: 'bad-token', message: 'the token is not one of this daemon', hint: '' } };
    const body = Buffer.from(input);
    return dispatchCall(
      { operation, identity, token, key, projectPath: projectPath ?? undefined, body, keptAt },
      this.#options,
    );
  }

  /** The call is settled, so a file that cannot be removed must not delay the others. */
  #remove(name: string, call: KeptCall, remove: () => void): void {
    this.#failures.delete(keptCallId(name, call));
    try {
      remove();
    } catch (error) {
      if (this.#settled.size >= MAX_SETTLED) this.#settled.clear();
      this.#settled.add(keptCallId(name, call));
      this.#options.log.error('a kept call was delivered or refused, but its file cannot be removed', {
        name,
        cause: causeOf(error),
      });
    }
  }

  #mayTryAgain(id: string): boolean {
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    return failures < MAX_FAILURES;
  }
}

interface LaneEnd {
  readonly delivered: number;
  readonly refused: number;
  readonly isWaiting: boolean;
}

const FIRST_DELAY_MS = 500;

const TEMPORARY_CODES: ReadonlySet<string> = new Set([
  'store-unavailable',
  'writeback-failed',
  'rate-limited',
  'stopping',
]);

const LAST_DELAY_MS = 30_000;
const MAX_FAILURES = 5;
const MAX_SETTLED = 10_000;
