import { existsSync } from 'node:fs';
import { delay } from '../../api/client/http.ts';
import { renderExitSignal } from '../../protocol/exit-signal/exit-signal.ts';
import { fieldsInJson, findText } from '../../protocol/shape/read-unknown.ts';
import type { RecordHint } from '../../streams/client-stream.ts';
import type { Launch } from '../contract.ts';
import { type DaemonCall, type Reporter, UNDELIVERED_CODES } from '../daemon-connection.ts';
import type { ProcessSignal, SignalScanner } from './signal-scanner.ts';

/** Exit signals that the agent printed instead of sending them; sent in its name when the turn or the process ends. */
export class PrintedSignals {
  readonly #launch: Launch;
  readonly #reporter: Reporter;
  readonly #speech: SignalScanner;
  #accepted: string | undefined;
  /** A signal that neither the daemon nor the outbox could record. */
  #undelivered: DaemonCall | undefined;
  #count = 0;

  constructor(launch: Launch, reporter: Reporter, speech: SignalScanner) {
    this.#launch = launch;
    this.#reporter = reporter;
    this.#speech = speech;
  }

  /** Sends the turn's signal, if there is one. The stop hook reports a refusal to the agent. */
  async sendAtTurnEnd(lastWords?: string): Promise<PrintedSignalResult> {
    return this.#launch.finds_exit_signals ? this.#settle(this.#speech.endTurn(lastWords)) : NOTHING;
  }

  async #settle(found: ProcessSignal): Promise<PrintedSignalResult> {
    const { agent_token, id, start } = this.#launch;
    const unheard = this.#undelivered;
    if (found.kind === 'none') return unheard === undefined ? NOTHING : this.#send(unheard);
    this.#undelivered = undefined;
    if (found.kind === 'early') return { kind: 'refused', message: NOT_LAST };
    if (found.kind === 'failed') return { kind: 'refused', message: FAILED };
    if (found.kind === 'invalid') return refused(found.problem.message);
    const input = renderExitSignal(found.signal);
    // The pipe may repeat a signal that the hook has already delivered.
    if (input === this.#accepted) return { kind: 'accepted' };
    const key = `${id}:printed:${start}:${(this.#count += 1)}`;
    return this.#send({ operation: 'exit_signal', input, token: agent_token, key });
  }

  /** Sends the signal of an exited process, which cannot repeat it. Retries until the daemon or the outbox has it. */
  async sendAtExit(code: number | null): Promise<PrintedSignalResult> {
    if (!this.#launch.finds_exit_signals) return NOTHING;
    let settled = await this.#settle(this.#speech.endProcess(code));
    for (let waitMs = FIRST_MS; this.#undelivered !== undefined; waitMs = Math.min(waitMs * 2, LAST_MS)) {
      await delay(waitMs);
      if (!existsSync(this.#launch.state_dir)) break;
      settled = await this.#send(this.#undelivered);
    }
    return settled;
  }

  async #send(call: DaemonCall): Promise<PrintedSignalResult> {
    const answer = await this.#reporter.send(call);
    const isUndelivered = !answer.ok && UNDELIVERED_CODES.has(answer.error.code);
    this.#undelivered = isUndelivered ? call : undefined;
    if (!answer.ok && answer.error.code !== 'kept') return refused(answer.error.message);
    this.#accepted = call.input;
    return { kind: 'accepted' };
  }
}

export type PrintedSignalResult =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'accepted' }
  /** The message is a sentence for the agent. */
  | { readonly kind: 'refused'; readonly message: string };

const FIRST_MS = 250;
const LAST_MS = 5000;
const NOTHING: PrintedSignalResult = { kind: 'nothing' };

function refused(why: string): PrintedSignalResult {
  return { kind: 'refused', message: `The exit signal that you printed was refused: ${why}` };
}

const FAILED = 'The exit signal that you printed does not count, because the process did not exit with code 0.';
const NOT_LAST =
  'The exit signal in your message does not count, because it is quoted or you wrote more after it. Put it at the very end of your last ' +
  "message (only a closing code fence may follow), or send it: baton emit exit '<json>'";

export function parseRecordHint(body: Uint8Array): RecordHint | undefined {
  const fields = fieldsInJson(new TextDecoder().decode(body));
  const { transcript_path: path, session_id: conversation, tool_use_id: toolUse } = fields;
  if (typeof path !== 'string' || typeof conversation !== 'string') return undefined;
  return { path, conversation, toolUse: findText(toolUse) };
}
