import type { Refusal } from '../state/outcome.ts';
import type { Waiting } from './trial.ts';

/** Those who wait for something to happen, in the order in which they came, each as long as its patience lasts. */
export class WaitingRoom {
  readonly #parked = new Set<Waiting>();

  [Symbol.iterator](): IterableIterator<Waiting> {
    return this.#parked.values();
  }

  has(waiting: Waiting): boolean {
    return this.#parked.has(waiting);
  }

  leave(waiting: Waiting): boolean {
    return this.#parked.delete(waiting);
  }

  /** Everybody, out of the room. */
  empty(): readonly Waiting[] {
    const all = [...this.#parked];
    this.#parked.clear();
    return all;
  }

  park(waiting: Waiting): void {
    const { patience } = waiting.request;
    // Whoever has gone already sends no further word: there is no abort to wait for.
    if (patience === undefined || waiting.isTired || patience.signal?.aborted === true) {
      this.leave(waiting);
      turnAway(waiting);
      return;
    }
    this.#parked.add(waiting);
    if (waiting.timer !== undefined) return;
    const giveUp = (): void => this.#giveUp(waiting);
    waiting.timer = setTimeout(giveUp, patience.ms);
    patience.signal?.addEventListener('abort', giveUp, { once: true });
  }

  #giveUp(waiting: Waiting): void {
    waiting.isTired = true;
    if (this.leave(waiting)) turnAway(waiting);
  }
}

function turnAway({ request, answer }: Waiting): void {
  answer(request.patience?.otherwise ?? { ok: false, refusal: NOTHING_YET });
}

const NOTHING_YET: Refusal = {
  code: 'nothing-yet',
  message: 'there is nothing to do yet',
  hint: 'Ask again with wait_ms.',
};
