import type { Refusal } from '../../state/outcome.ts';
import type { PendingRequest } from './speculative-state.ts';

/** Requests that wait for a change, in order of arrival, each up to its own time limit. */
export class WaitList {
  readonly #waiting = new Set<PendingRequest>();

  [Symbol.iterator](): IterableIterator<PendingRequest> {
    return this.#waiting.values();
  }

  has(waiting: PendingRequest): boolean {
    return this.#waiting.has(waiting);
  }

  remove(waiting: PendingRequest): boolean {
    return this.#waiting.delete(waiting);
  }

  /** Removes and returns all of them. */
  removeAll(): readonly PendingRequest[] {
    const all = [...this.#waiting];
    this.#waiting.clear();
    return all;
  }

  add(waiting: PendingRequest): void {
    const { waitLimit: patience } = waiting.request;
    // An aborted signal sends no further event, so there is nothing to wait for.
    if (patience === undefined || waiting.hasTimedOut || patience.signal?.aborted === true) {
      this.remove(waiting);
      answerTimeout(waiting);
      return;
    }
    this.#waiting.add(waiting);
    if (waiting.timer !== undefined) return;
    const giveUp = (): void => this.#giveUp(waiting);
    waiting.timer = setTimeout(giveUp, patience.ms);
    patience.signal?.addEventListener('abort', giveUp, { once: true });
  }

  #giveUp(waiting: PendingRequest): void {
    waiting.hasTimedOut = true;
    if (this.remove(waiting)) answerTimeout(waiting);
  }
}

function answerTimeout({ request, answer }: PendingRequest): void {
  answer(request.waitLimit?.otherwise ?? { ok: false, refusal: NOTHING_YET });
}

const NOTHING_YET: Refusal = {
  code: 'nothing-yet',
  message: 'there is nothing to do yet',
  hint: 'Ask again with wait_ms.',
};
