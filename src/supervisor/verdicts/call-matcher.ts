import { isObject } from '../../protocol/shape/read-unknown.ts';
import type { BatonCall } from '../../streams/stream-event.ts';

/**
 * Matches requests with the tool calls in the client's own output: each call in the output allows one request with the
 * same tool and the same arguments. The request and the line in the output race, so a request waits for its line.
 */
export class CallMatcher {
  readonly #waitMs: number;
  /** Calls in the output that no request has used yet, oldest first. */
  readonly #open: string[] = [];
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(waitMs: number = MATCH_MS) {
    this.#waitMs = waitMs;
  }

  /** Records a call that the client printed. */
  note(call: BatonCall): void {
    const name = canonicalForm(call);
    const first = this.#waiting.get(name)?.shift();
    if (first !== undefined) return first();
    this.#open.push(name);
    if (this.#open.length > MOST_OPEN) this.#open.shift();
  }

  /** Resolves to true, once, for each printed call. */
  async take(call: BatonCall): Promise<boolean> {
    const name = canonicalForm(call);
    const at = this.#open.indexOf(name);
    if (at >= 0) {
      this.#open.splice(at, 1);
      return true;
    }
    return new Promise((resolve) => {
      const found = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        const left = (this.#waiting.get(name) ?? []).filter((each) => each !== found);
        if (left.length === 0) this.#waiting.delete(name);
        else this.#waiting.set(name, left);
        resolve(false);
      }, this.#waitMs);
      this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), found]);
    });
  }
}

/** Clients print a call before they make it; a busy machine may deliver the line later. */
const MATCH_MS = 5000;
/** A client makes few calls at once, and an unused one only waits for its own request. */
const MOST_OPEN = 256;

/** Renders a call so that the order of fields does not matter. */
function canonicalForm({ tool, input }: BatonCall): string {
  return JSON.stringify([tool, input ?? {}], (_, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}
