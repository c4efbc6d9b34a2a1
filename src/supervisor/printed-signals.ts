import { renderExitSignal } from '../protocol/exit-signal.ts';
import type { Launch } from './contract.ts';
import type { Reporter } from './reporter.ts';
import { findInLastWords, type Speech } from './speech.ts';

/**
 * Exit signals that the agent printed instead of sending them. They are held until its turn or its process ends, the last one counts, and
 * it is sent in the agent's name.
 */
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

  /** Sends what the turn has come to. What it was refused for is for the agent to hear. */
  async settle(lastWords?: string): Promise<Settled> {
    const { finds_exit_signals, agent_token, id, start } = this.#launch;
    if (!finds_exit_signals) return NOTHING;
    const found = findInLastWords(lastWords, this.#speech.endTurn());
    if (found.kind === 'none') return NOTHING;
    if (found.kind === 'invalid') return { kind: 'refused', message: found.problem.message };
    const input = renderExitSignal(found.signal);
    // The pipe may bring once more what the hook has brought already.
    if (input === this.#accepted) return { kind: 'accepted' };
    const key = `${id}:printed:${start}:${(this.#count += 1)}`;
    const answer = await this.#reporter.say({ operation: 'exit_signal', input, token: agent_token, key });
    if (!answer.ok && answer.error.code !== 'kept') return { kind: 'refused', message: answer.error.message };
    this.#accepted = input;
    return { kind: 'accepted' };
  }
}

export type Settled =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly message: string };

const NOTHING: Settled = { kind: 'nothing' };
