import type { Answer } from '../api/answer.ts';
import { type KeptCall, removeKept, setAsideKept } from '../api/outbox.ts';
import { dispatchCall, type DispatchOptions } from './dispatch.ts';
import { causeOf } from './log.ts';
import { keptCallId } from './outbox-lanes.ts';
import type { AccessTokens } from './tokens.ts';

export interface KeptCallOptions extends DispatchOptions {
  readonly tokens: AccessTokens;
}

/** Delivers single kept calls, each with its key, and removes or sets aside their files. */
export class KeptCallDelivery {
  readonly #options: KeptCallOptions;
  /** Settled calls whose files could not be removed. */
  readonly #settled = new Set<string>();
  readonly #failures = new Map<string, number>();

  constructor(options: KeptCallOptions) {
    this.#options = options;
  }

  isSettled(id: string): boolean {
    return this.#settled.has(id);
  }

  async deliver(name: string, call: KeptCall): Promise<'delivered' | 'refused' | 'waits'> {
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

const TEMPORARY_CODES: ReadonlySet<string> = new Set([
  'store-unavailable',
  'writeback-failed',
  'rate-limited',
  'stopping',
]);

const MAX_FAILURES = 5;
const MAX_SETTLED = 10_000;
