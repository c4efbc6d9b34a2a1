import type { Admission, MeteredRequest, RequestMeter, TokenUse } from '../../sandbox/network/meter/request-meter.ts';

export interface RequestGateOptions {
  /** Reports what is not reported yet, with the tokens that requests in progress may use. */
  readonly report: (reserved: Pick<TokenUse, 'input' | 'output'>) => Promise<void>;
  /** Whether a budget of the agent is used up. */
  readonly isHeld: () => boolean;
  readonly onSettled: (used: TokenUse) => void;
}

/**
 * Admits the requests of one agent that use an injected key, one decision at a time. A budget that is used up refuses
 * them. A request in progress counts for the next one as its input and the longest answer so far, so that many parallel
 * requests cannot pass before the first is counted.
 */
export class RequestGate implements RequestMeter {
  readonly #options: RequestGateOptions;
  readonly #open = new Set<MeteredRequest>();
  #turn: Promise<unknown> = Promise.resolve();
  #longest = UNKNOWN_OUTPUT;

  constructor(options: RequestGateOptions) {
    this.#options = options;
  }

  async admit(request: MeteredRequest): Promise<Admission> {
    const admission = this.#turn.then(async () => this.#decide(request));
    this.#turn = admission.catch(() => {});
    return admission;
  }

  /** Settles the requests in progress, because their process has ended. */
  settleOpen(): void {
    for (const request of this.#open) request.abandon();
  }

  async #decide(request: MeteredRequest): Promise<Admission> {
    const input = [...this.#open].reduce((sum, each) => sum + each.input, 0);
    await this.#options.report({ input, output: this.#open.size * this.#longest });
    if (this.#options.isHeld()) return { ok: false, reason: HELD };
    this.#open.add(request);
    return {
      ok: true,
      settle: (used) => {
        this.#open.delete(request);
        this.#longest = Math.max(this.#longest, used.output);
        this.#options.onSettled(used);
      },
    };
  }
}

/** What an answer counts before the first one has ended. */
const UNKNOWN_OUTPUT = 1000;

const HELD =
  'a budget is used up, and a person has been asked. Requests continue after the answer: baton decision list';
