import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { listKept, readKept, removeKept, setAside, type KeptCall } from '../api/outbox.ts';
import { dispatch, type DispatchOptions } from './dispatch.ts';
import type { Tokens } from './tokens.ts';

export interface Delivered {
  readonly delivered: number;
  readonly refused: number;
  readonly waiting: number;
}

/**
 * Delivers the calls that were kept while a daemon was away, each with the key that it would have had. The calls of one project form a lane:
 * they are delivered in order, one at a time, and a call that its store cannot take yet holds up those behind it, but no other project.
 * A refused call has been settled, and is set aside for people.
 */
export class OutboxDelivery {
  readonly #options: DispatchOptions & { readonly tokens: Tokens };
  readonly #lanes = new Map<string, Promise<LaneEnd>>();
  #underWay = 0;
  #again: NodeJS.Timeout | undefined;
  #delayMs = FIRST_DELAY_MS;
  #isStopped = false;

  constructor(options: DispatchOptions & { readonly tokens: Tokens }) {
    this.#options = options;
  }

  /** Delivers all calls that are there now. */
  async deliver(): Promise<Delivered> {
    this.#underWay += 1;
    try {
      return await this.#deliverAll();
    } finally {
      this.#underWay -= 1;
    }
  }

  /**
   * Delivers the kept calls of one project. Returns whether none is left: until then a call that comes directly, and the end of a process,
   * would overtake what the same session sent before.
   */
  async drain(projectId: string): Promise<boolean> {
    if (this.#isStopped || listKept(this.#options.outbox).length === 0) return true;
    const { isWaiting } = await this.#run(projectId);
    if (isWaiting) this.comeBack();
    return !isWaiting;
  }

  /** A caller that gave up on one daemon may have kept its call just after the next one had looked: that call is delivered too. */
  glance(): void {
    const isBusy = this.#isStopped || this.#underWay > 0 || this.#again !== undefined;
    if (!isBusy && listKept(this.#options.outbox).length > 0) void this.deliver();
  }

  /** There is no event for a store that is back: tries again, less and less often. */
  comeBack(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.deliver(), this.#delayMs).unref();
    this.#delayMs = Math.min(this.#delayMs * 2, LAST_DELAY_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#again);
    await Promise.all(this.#lanes.values());
  }

  async #deliverAll(): Promise<Delivered> {
    const { outbox, log } = this.#options;
    clearTimeout(this.#again);
    this.#again = undefined;
    const ends = await Promise.all([...this.#findLanes()].map(async (lane) => this.#run(lane)));
    const delivered = ends.reduce((sum, end) => sum + end.delivered, 0);
    const refused = ends.reduce((sum, end) => sum + end.refused, 0);
    if (delivered + refused > 0) log.info('kept calls were delivered', { delivered, refused });
    if (ends.some(({ isWaiting }) => isWaiting)) this.comeBack();
    else this.#delayMs = FIRST_DELAY_MS;
    return { delivered, refused, waiting: listKept(outbox).length };
  }

  /** The lanes of all kept calls. A file that holds no call is set aside on the way. */
  #findLanes(): ReadonlySet<string> {
    const { outbox, log } = this.#options;
    const lanes = new Set<string>();
    for (const name of listKept(outbox)) {
      const call = readKept(outbox, name);
      if (call !== undefined) lanes.add(this.#laneOf(call));
      else if (existsSync(join(outbox, name))) {
        log.error('a kept call cannot be read, and was set aside', { name });
        setAside(outbox, name, 'corrupt');
      }
    }
    return lanes;
  }

  /** Tokens of sessions, agents and supervisors name their project; the calls of people name its path. */
  #laneOf({ token, projectPath }: KeptCall): string {
    return this.#options.tokens.identify(token)?.project ?? projectPath ?? token;
  }

  /** One run of a lane at a time; a run that is asked for during another one comes after it. */
  async #run(lane: string): Promise<LaneEnd> {
    const before = this.#lanes.get(lane);
    const next = (async () => {
      await before;
      return this.#deliverLane(lane);
    })();
    this.#lanes.set(lane, next);
    const end = await next;
    if (this.#lanes.get(lane) === next) this.#lanes.delete(lane);
    return end;
  }

  async #deliverLane(lane: string): Promise<LaneEnd> {
    const { outbox } = this.#options;
    const counts = { delivered: 0, refused: 0 };
    for (const name of listKept(outbox)) {
      if (this.#isStopped) break;
      const call = readKept(outbox, name);
      if (call === undefined || this.#laneOf(call) !== lane) continue;
      const outcome = await this.#deliverOne(name, call);
      if (outcome === 'waits') return { ...counts, isWaiting: true };
      counts[outcome] += 1;
    }
    return { ...counts, isWaiting: false };
  }

  async #deliverOne(name: string, call: KeptCall): Promise<'delivered' | 'refused' | 'waits'> {
    const { outbox, tokens, log } = this.#options;
    const { operation, key, token, projectPath, input } = call;
    const identity = tokens.identify(token);
    const answer =
      identity === undefined
        ? ({
            ok: false,
            error: { code: 'bad-token', message: 'the token is not one of this daemon', hint: '' },
          } as const)
        : await dispatch(
            {
              operation,
              identity,
              token,
              key,
              projectPath: projectPath ?? undefined,
              body: Buffer.from(input),
              keptAt: call.keptAt,
            },
            this.#options,
          );
    if (answer.ok) {
      removeKept(outbox, name);
      return 'delivered';
    }
    if (PASSES.has(answer.error.code)) return 'waits';
    log.error('a kept call was refused, and was set aside', { name, operation, code: answer.error.code });
    // Without its token: nobody needs it any more.
    setAside(outbox, name, 'refused', JSON.stringify({ ...call, token: undefined, answer }));
    return 'refused';
  }
}

interface LaneEnd {
  readonly delivered: number;
  readonly refused: number;
  /** A call is left that its store cannot take yet. */
  readonly isWaiting: boolean;
}

const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 30_000;

/** Refusals that pass by themselves. */
const PASSES: ReadonlySet<string> = new Set(['store-unavailable', 'writeback-failed', 'rate-limited', 'stopping']);
