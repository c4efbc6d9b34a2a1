/**
 * Tool calls that wait until their agent may go on. A client does not wait for a hook for ever, and one that gives up runs the tool: before
 * that its turn is ended, which costs nothing, and a message goes on with it later.
 */
export class Holds {
  readonly #waiting = new Set<(answer: object) => void>();
  readonly #longestMs: number;

  constructor(longestMs: number = LONGEST_MS) {
    this.#longestMs = longestMs;
  }

  /** Resolves to what the client's hook is answered. */
  async hold(): Promise<object> {
    return new Promise((resolve) => {
      const answer = (what: object): void => {
        clearTimeout(timer);
        this.#waiting.delete(answer);
        resolve(what);
      };
      const timer = setTimeout(() => answer(END_OF_TURN), this.#longestMs).unref();
      this.#waiting.add(answer);
    });
  }

  /** True where somebody had waited: it goes on by itself. */
  release(): boolean {
    return this.#answer({});
  }

  /** Nobody waits for the agent any more: what it has begun is not done. */
  drop(): void {
    this.#answer(END_OF_TURN);
  }

  #answer(what: object): boolean {
    const isWaiting = this.#waiting.size > 0;
    for (const answer of this.#waiting) answer(what);
    return isWaiting;
  }
}

/** HTTP clients give up after five minutes without an answer. */
const LONGEST_MS = 240_000;

const END_OF_TURN = { continue: false, stopReason: 'A budget is used up. A person has been asked.' };
