/**
 * Tool calls that wait until their agent may go on. A client does not wait for a hook for ever, and one that gives up runs the tool: before
 * that its turn is ended, which costs nothing, and a message goes on with it later.
 */
export class HeldToolCalls {
  readonly #waiting = new Set<(mayGoOn: boolean) => void>();
  readonly #longestMs: number;

  constructor(longestMs: number = MAX_HOLD_MS) {
    this.#longestMs = longestMs;
  }

  /** Whether it may go on with what it has begun. */
  async hold(): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (mayGoOn: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(answer);
        resolve(mayGoOn);
      };
      const timer = setTimeout(() => answer(false), this.#longestMs).unref();
      this.#waiting.add(answer);
    });
  }

  /** True where somebody had waited: it goes on by itself. */
  release(): boolean {
    return this.#answer(true);
  }

  /** Nobody waits for the agent any more: what it has begun is not done. */
  cancel(): void {
    this.#answer(false);
  }

  #answer(mayGoOn: boolean): boolean {
    const isWaiting = this.#waiting.size > 0;
    for (const answer of this.#waiting) answer(mayGoOn);
    return isWaiting;
  }
}

/** HTTP clients give up after five minutes without an answer. */
const MAX_HOLD_MS = 240_000;

export const BUDGET_REASON = 'A budget is used up. A person has been asked.';

export const DENY_QUESTION = {
  continue: false,
  stopReason: BUDGET_REASON,
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: BUDGET_REASON } },
} as const;
