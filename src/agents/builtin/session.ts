import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { InputOf, OperationName, ResultOf } from '../../api/operations/registry.ts';
import type { WorkflowView } from '../../api/operations/workflow.ts';
import { isErrorHandoff, renderHandoff, type HandoffMessage } from '../../protocol/handoff/index.ts';

/** The calls of a built-in role to the daemon, with the token of its session. */
export class RoleSession {
  readonly #client: Pick<Client, 'call'>;
  readonly print: (line: string) => void;

  constructor(client: Pick<Client, 'call'>, print: (line: string) => void) {
    this.#client = client;
    this.print = print;
  }

  /** Calls an operation and returns its result: a read, or a write that needs the daemon's answer. */
  async call<N extends OperationName>(operation: N, input: InputOf<N>): Promise<ResultOf<N>> {
    const answer = await this.#call(operation, input);
    if (answer.ok) return answer.result;
    throw failure(operation, answer.error);
  }

  /** Sends a write. If the daemon is unavailable, the call may be kept in the outbox instead. */
  async #send<N extends OperationName>(operation: N, input: InputOf<N>): Promise<ExitRefusal | undefined> {
    const answer = await this.#call(operation, input);
    return answer.ok || answer.error.code === 'kept' ? undefined : answer.error;
  }

  /** Retries while the daemon is unavailable. */
  async #call<N extends OperationName>(operation: N, input: InputOf<N>): Promise<Answer<ResultOf<N>>> {
    const until = performance.now() + AWAY_MS;
    for (;;) {
      const answer = await this.#client.call(operation, input);
      if (answer.ok || !AWAY.has(answer.error.code) || performance.now() > until) return answer;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Sends the handoff, then ends the session. Returns the refusal if the end was refused. */
  async sendHandoffAndExit(
    message: HandoffMessage,
    { phase, exit_protocol }: WorkflowView,
    notes: string,
  ): Promise<ExitRefusal | undefined> {
    const refused = await this.#send('handoff_send', { handoff: renderHandoff(message) });
    if (refused !== undefined) throw failure('handoff_send', refused);
    const to = message.kind === 'handoff' ? message.to : 'workflow-complete';
    this.print(`→ ${to}: ${notes}`);
    if (!exit_protocol) return this.#send('agent_signal', { kind: 'complete', message: notes });
    return this.#send('exit_signal', {
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: phase,
      exit_reason: message.kind === 'handoff' && isErrorHandoff(message) ? 'error' : 'completed',
      notes,
    });
  }

  /** Like `sendHandoffAndExit`, for a role that cannot handle a refusal: throws instead. */
  async requireHandoffAndExit(message: HandoffMessage, task: WorkflowView, notes: string): Promise<void> {
    const refused = await this.sendHandoffAndExit(message, task, notes);
    if (refused !== undefined) throw new Error(`the exit was refused: ${refused.message}`);
  }
}

function failure(operation: OperationName, { message }: ExitRefusal): Error {
  return new Error(`${operation}: ${message}`);
}

const AWAY: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'stopping']);
const AWAY_MS = 300_000;
const RETRY_MS = 200;
export type ExitRefusal = Extract<Answer, { ok: false }>['error'];
