import { renderExitSignal } from '../protocol/exit-signal.ts';
import type { Launch } from './contract.ts';
import type { Reporter } from './reporter.ts';
import type { Speech } from './speech.ts';

/** Exit signals that the agent printed instead of sending them. One is held until the turn or the process ends, then sent in the agent's name. */
export class PrintedSignals {
  readonly #launch: Launch;
  readonly #reporter: Reporter;
  readonly #speech: Speech;
  #accepted: string | undefined;
  #count = 0;

  constructor(launch: Launch, reporter: Reporter, speech: Speech) {
    this.#launch = launch;
    this.#reporter = reporter;
    this.#speech = speech;
  }

  /** Sends the signal of the turn, if there is one. The stop hook tells the agent why it was refused or did not count. */
  async settle(lastWords?: string): Promise<Settled> {
    const { finds_exit_signals, agent_token, id, start } = this.#launch;
    if (!finds_exit_signals) return NOTHING;
    const found = this.#speech.endTurn(lastWords);
    if (found.kind === 'none') return NOTHING;
    if (found.kind === 'early') return { kind: 'refused', message: NOT_LAST };
    if (found.kind === 'invalid') return { kind: 'refused', message: refusal(found.problem.message) };
    const input = renderExitSignal(found.signal);
    // The pipe may bring once more what the hook has brought already.
    if (input === this.#accepted) return { kind: 'accepted' };
    const key = `${id}:printed:${start}:${(this.#count += 1)}`;
    const answer = await this.#reporter.say({ operation: 'exit_signal', input, token: agent_token, key });
    if (!answer.ok && answer.error.code !== 'kept') return { kind: 'refused', message: refusal(answer.error.message) };
    this.#accepted = input;
    return { kind: 'accepted' };
  }
}

export type Settled =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'accepted' }
  /** The message is a sentence for the agent. */
  | { readonly kind: 'refused'; readonly message: string };

const NOTHING: Settled = { kind: 'nothing' };

function refusal(why: string): string {
  return `The exit signal that you printed was refused: ${why}`;
}

const NOT_LAST =
  'The exit signal in your message does not count, because it is quoted or you wrote more after it. Put it at the very end of your last ' +
  "message (only a closing code fence may follow), or send it: baton emit exit '<json>'";
