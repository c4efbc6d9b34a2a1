import type { RecordedEvent } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import type { EffectContext } from '../context.ts';
import { followMerges } from './follow-main.ts';
import { removeMergedRefs } from './remove-refs.ts';
import { TravelPush } from './travel-push.ts';

type TravelContext = Pick<EffectContext, 'path' | 'ownRepository' | 'readState' | 'submit' | 'log' | 'here'>;

/** Everything that a host does to move work by git. Does nothing on a single machine or without a recorded remote. */
export class Travel {
  readonly #context: TravelContext;
  readonly #push: TravelPush;
  readonly #monotonicMs: () => number;
  #following: Promise<void> = Promise.resolve();
  #removing: Promise<unknown> | undefined;
  #nextRemovalMs: number;

  constructor(context: TravelContext, monotonicMs: () => number = () => performance.now()) {
    this.#context = context;
    this.#monotonicMs = monotonicMs;
    this.#push = new TravelPush(context, monotonicMs);
    this.#nextRemovalMs = monotonicMs() + REMOVAL_MS;
  }

  onRecorded(recorded: readonly RecordedEvent[]): void {
    if (this.#context.here() === undefined) return;
    this.#push.onRecorded(recorded);
    if (!recorded.some(({ type }) => type === 'MergeFinished')) return;
    this.#following = this.#following.then(async () => this.#try(followMerges(recorded, this.#context)));
    this.#nextRemovalMs = Math.min(this.#nextRemovalMs, this.#monotonicMs() + AFTER_MERGE_MS);
  }

  tick(state: State): void {
    const here = this.#context.here();
    if (here === undefined) return;
    this.#push.tick(state);
    const nowMs = this.#monotonicMs();
    if (!here.isCaretaker || nowMs < this.#nextRemovalMs || this.#removing !== undefined) return;
    this.#nextRemovalMs = nowMs + REMOVAL_MS;
    this.#removing = this.#try(removeMergedRefs(this.#context)).finally(() => {
      this.#removing = undefined;
    });
  }

  /** What must happen before these entries are recorded; see `TravelPush.holdBack`. */
  holdBack(recorded: readonly RecordedEvent[]): Promise<void> | undefined {
    return this.#push.holdBack(recorded);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#push.close(), this.#following, this.#removing]);
  }

  async #try(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => this.#context.log.error('work could not travel', { reason: String(error) }));
  }
}

const REMOVAL_MS = 3_600_000;
/** Longer than a task needs from its merge to completion, after which its refs can be removed. */
const AFTER_MERGE_MS = 60_000;
