import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOW_CLAIM_ENDED, type RecordedEvent } from '../../state/event.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import type { State } from '../../state/state.ts';
import { TaskIndex } from '../../state/tasks/task-index.ts';
import type { EffectContext } from '../context.ts';
import { findLiveWork, isPushDue, LEAST_MS, listWork, type LiveWork, mayHaveWork } from './live-work.ts';
import { type PushOutcome, pushWork } from './push-work.ts';

type TravelContext = Pick<EffectContext, 'path' | 'ownRepository' | 'readState' | 'submit' | 'log' | 'here'>;

/** The pushes of one claim. */
interface Slot {
  readonly epoch: number;
  /** The last observed commit. */
  head: string | null;
  lookedMs: number;
  pushedMs: number;
  running: Promise<void> | undefined;
}

/**
 * Pushes the work of this host's live claims to the remote, so that any host can continue it: after new commits, every
 * five minutes, and before the end of a claim is recorded. Does nothing without a fleet or a recorded remote.
 */
export class TravelPush {
  readonly #context: TravelContext;
  readonly #monotonicMs: () => number;
  /** By task. */
  readonly #slots = new Map<string, Slot>();
  /** Undefined before the first tick. */
  #tasks: TaskIndex | undefined;
  #commonDir: string | undefined;
  #opening: Promise<void> | undefined;
  #lastTickMs = Number.NEGATIVE_INFINITY;
  /** Undefined while unknown: before the first tick, and after it may have changed. */
  #remote: string | null | undefined;
  #isClosed = false;

  constructor(context: TravelContext, monotonicMs: () => number = () => performance.now()) {
    this.#context = context;
    this.#monotonicMs = monotonicMs;
  }

  /** Notes a claim at once, because it may end before the next tick. */
  onRecorded(recorded: readonly RecordedEvent[]): void {
    this.#tasks?.follow(recorded);
    const host = this.#context.here()?.host;
    for (const { type, data } of recorded) {
      if (type === 'TaskClaimed' && data.host === host && host !== undefined) this.#slotOf(data.task_id, data.epoch);
      // From now on work is pushed, perhaps before the next tick.
      if (type === 'HostJoined' || type === 'RemoteChanged') this.#remote = undefined;
    }
  }

  tick(state: State): void {
    const nowMs = this.#monotonicMs();
    if (this.#isClosed || nowMs - this.#lastTickMs < TICK_MS) return;
    this.#lastTickMs = nowMs;
    const host = this.#context.here()?.host;
    this.#remote = findSharedRemote(state);
    if (host === undefined || this.#remote === null) {
      this.#slots.clear();
      return;
    }
    this.#tasks ??= new TaskIndex(state, mayHaveWork);
    const works = listWork(this.#tasks, state, { host, path: this.#context.path });
    for (const work of works) this.#pushIfDue(work, nowMs);
    this.#forget(state, works);
  }

  /**
   * Pushes what must be at the remote before these entries may be recorded: the work of every claim of this host that
   * they end. Returns undefined if there is none. The promise never rejects, and settles within the time limit for an
   * ending claim.
   */
  holdBack(recorded: readonly RecordedEvent[]): Promise<void> | undefined {
    if (this.#isClosed || this.#remote === null) return undefined;
    const ended = recorded.flatMap(({ type, data }) =>
      HOW_CLAIM_ENDED.has(type) && 'epoch' in data && 'task_id' in data ? [data] : [],
    );
    const own = ended.filter(({ task_id, epoch }) => this.#slots.get(task_id ?? '')?.epoch === epoch);
    if (own.length === 0) return undefined;
    return Promise.all(own.map(async ({ task_id, epoch }) => this.pushBeforeEnd(task_id ?? '', epoch ?? 0))).then(
      () => undefined,
    );
  }

  /** A failure is recorded and binds the task to this host, but does not keep the claim from ending. */
  async pushBeforeEnd(taskId: string, epoch: number): Promise<void> {
    const found = await this.#context.readState((state) => this.#findWork(state, taskId));
    if (found === undefined || found.work.epoch !== epoch) return;
    const { work, url, host } = found;
    const slot = this.#slotOf(taskId, epoch);
    const late = new AbortController();
    const pushed = (async () => {
      await slot.running;
      await this.#push(work, slot, { url, host, isEnd: true });
    })().catch(async (error: unknown) =>
      this.#report(work, host, { kind: 'failed', sha: slot.head, reason: String(error) }),
    );
    const waited = sleep(END_MS, 'late', { signal: late.signal, ref: false }).catch(() => undefined);
    // The push continues, and its success is recorded even then.
    if ((await Promise.race([pushed, waited])) === 'late') {
      const reason = `the push at the end of the session did not end within ${END_MS / 1000} s`;
      await this.#report(work, host, { kind: 'failed', sha: slot.head, reason });
    }
    late.abort();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.idle();
  }

  /** Resolves when all running pushes have ended. */
  async idle(): Promise<void> {
    const pushes = [...this.#slots.values()].flatMap(({ running }) => running ?? []);
    await Promise.allSettled([...pushes, this.#opening]);
  }

  #findWork(state: State, taskId: string) {
    const { path } = this.#context;
    const [host, url, task] = [this.#context.here()?.host, findSharedRemote(state), state.tasks.get(taskId)];
    if (host === undefined || url === null || task === undefined) return undefined;
    const work = findLiveWork(state, task, host, path);
    return work === undefined ? undefined : { work, url, host };
  }

  #slotOf(taskId: string, epoch: number): Slot {
    const known = this.#slots.get(taskId);
    if (known?.epoch === epoch) return known;
    const lookedMs = this.#monotonicMs();
    const slot: Slot = { epoch, head: null, lookedMs, pushedMs: Number.NEGATIVE_INFINITY, running: undefined };
    this.#slots.set(taskId, slot);
    return slot;
  }

  #forget(state: State, works: readonly LiveWork[]): void {
    const kept = new Set(works.map(({ taskId }) => taskId));
    for (const [taskId, { epoch, running }] of this.#slots) {
      const isLive = state.tasks.get(taskId)?.claim?.epoch === epoch;
      if (running === undefined && !isLive && !kept.has(taskId)) this.#slots.delete(taskId);
    }
  }

  #pushIfDue(work: LiveWork, nowMs: number): void {
    const slot = this.#slotOf(work.taskId, work.epoch);
    const url = this.#remote;
    const host = this.#context.here()?.host;
    if (slot.running !== undefined || url === null || url === undefined || host === undefined) return;
    const head = this.#readHead(work.branch);
    // Without a loose ref only git knows the head. It is asked as often as a new commit would be pushed.
    const isMoved = head === undefined ? nowMs - slot.lookedMs >= LEAST_MS : head !== (slot.head ?? work.base);
    const mustRetry = work.isOwed || (work.work?.epoch === work.epoch && work.work.failed !== null);
    if (!isPushDue(slot, isMoved || mustRetry, nowMs)) return;
    slot.running = this.#push(work, slot, { url, host, isEnd: work.isOwed })
      .catch((error: unknown) =>
        this.#context.log.error('work could not be pushed', { task: work.taskId, reason: String(error) }),
      )
      .finally(() => {
        slot.running = undefined;
      });
  }

  async #push(
    work: LiveWork,
    slot: Slot,
    { url, host, isEnd }: { readonly url: string; readonly host: string; readonly isEnd: boolean },
  ): Promise<void> {
    const nowMs = this.#monotonicMs();
    slot.lookedMs = nowMs;
    // At the end, reads the state again, because a push that has just ended may have recorded a newer position.
    const now = isEnd
      ? ((await this.#context.readState((state) => this.#findWork(state, work.taskId)))?.work ?? work)
      : work;
    const outcome = await pushWork(now, { url, isEnd, timeoutMs: PUSH_MS }, this.#context);
    if (outcome.sha !== null) slot.head = outcome.sha;
    if (outcome.kind !== 'same' || work.isOwed) slot.pushedMs = nowMs;
    if (outcome.kind === 'same') return;
    await this.#report(work, host, outcome);
  }

  async #report(
    { taskId: task_id, epoch }: LiveWork,
    host: string,
    outcome: Exclude<PushOutcome, { kind: 'same' }>,
  ): Promise<void> {
    const { submit, log } = this.#context;
    const about = { task_id, epoch, host };
    if (outcome.kind === 'failed') {
      const reason = outcome.reason.slice(0, MOST_CHARACTERS);
      log.error('work was not pushed', { task: task_id, epoch, reason });
      await submit({ kind: 'report-push', command: { pushed: false, ...about, sha: outcome.sha, reason } });
      return;
    }
    const { sha, wip, left } = outcome;
    if (left.length > 0)
      log.info('uncommitted files are too large to travel', { task: task_id, files: left.slice(0, 10).join(', ') });
    await submit({ kind: 'report-push', command: { pushed: true, ...about, sha, wip } });
  }

  /**
   * Reads the file without git, because every claim is checked every two seconds. Undefined if there is no loose ref.
   */
  #readHead(branch: string): string | undefined {
    if (this.#commonDir === undefined) {
      this.#opening ??= this.#context.ownRepository.with().then((own) => {
        if (own.ok) this.#commonDir = own.value.source.commonDir;
        this.#opening = undefined;
      });
      return undefined;
    }
    try {
      const text = readFileSync(join(this.#commonDir, 'refs', 'heads', branch), 'latin1').trim();
      return /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
    } catch {
      return undefined;
    }
  }
}

const TICK_MS = 2000;
const END_MS = 10_000;
const PUSH_MS = 300_000;
const MOST_CHARACTERS = 1000;
