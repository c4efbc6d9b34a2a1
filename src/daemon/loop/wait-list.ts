import type { Refusal } from '../../state/outcome.ts';
import type { PendingRequest } from './speculative-state.ts';

/** Requests that were decided as `LATER`. They are decided again after each change, up to their time limit. */
export class WaitList {
  readonly #decideAgain: (waiting: PendingRequest) => void;
  readonly #hasWork: () => boolean;
  readonly #waiting = new Set<PendingRequest>();
  #looking: NodeJS.Timeout | undefined;

  /** `hasWork`: whether there is a task to claim or to close. */
  constructor(decideAgain: (waiting: PendingRequest) => void, hasWork: () => boolean) {
    this.#decideAgain = decideAgain;
    this.#hasWork = hasWork;
  }

  [Symbol.iterator](): IterableIterator<PendingRequest> {
    return this.#waiting.values();
  }

  countForWork(): number {
    return [...this.#waiting].filter(({ request }) => request.waitsFor === 'work').length;
  }

  has(waiting: PendingRequest): boolean {
    return this.#waiting.has(waiting);
  }

  remove(waiting: PendingRequest): boolean {
    return this.#waiting.delete(waiting);
  }

  add(waiting: PendingRequest): void {
    const { waitLimit } = waiting.request;
    // A signal that has already aborted sends no event.
    if (waitLimit === undefined || waiting.hasTimedOut || waitLimit.signal?.aborted === true) {
      this.remove(waiting);
      answerTimeout(waiting);
      return;
    }
    this.#waiting.add(waiting);
    if (waiting.timer !== undefined) return;
    const giveUp = (): void => this.#giveUp(waiting);
    waiting.timer = setTimeout(giveUp, waitLimit.ms);
    waitLimit.signal?.addEventListener('abort', giveUp, { once: true });
  }

  /**
   * Decides requests again after entries of other hosts. `workAfterMs`: when to decide those that wait for work;
   * undefined if the entries give none.
   */
  wake(workAfterMs: number | undefined): void {
    this.#wakeAll(undefined);
    if (workAfterMs === 0) this.#wakeForWork();
    else if (workAfterMs !== undefined) this.#looking ??= setTimeout(() => this.#wakeForWork(), workAfterMs).unref();
  }

  /** Another host may have taken the work in the meantime. */
  #wakeForWork(): void {
    clearTimeout(this.#looking);
    this.#looking = undefined;
    if (this.#hasWork()) this.#wakeAll('work');
  }

  #wakeAll(what: 'work' | undefined): void {
    for (const waiting of [...this.#waiting].filter(({ request }) => request.waitsFor === what)) {
      this.#waiting.delete(waiting);
      this.#decideAgain(waiting);
    }
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
