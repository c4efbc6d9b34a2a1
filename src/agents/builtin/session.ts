import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { type HandoffMessage, renderHandoff } from '../../protocol/handoff/index.ts';

/** What a built-in role says to the daemon, with the token of its session. */
export class RoleSession {
  readonly #client: Pick<Client, 'call'>;
  readonly print: (line: string) => void;

  constructor(client: Pick<Client, 'call'>, say: (line: string) => void) {
    this.#client = client;
    this.print = say;
  }

  /** How the task stands. */
  async readTask(): Promise<RoleFacts> {
    return parseRoleFacts(await this.call('workflow_get', {}));
  }

  async call(operation: string, input: object): Promise<unknown> {
    const answer = await this.#callWithRetry(operation, input);
    if (answer.ok) return answer.result;
    throw new Error(`${operation}: ${answer.error.message}`);
  }

  /** A daemon that is away comes back. What was kept for it meanwhile is as good as said. */
  async #callWithRetry(operation: string, input: object): Promise<Answer> {
    const until = performance.now() + AWAY_MS;
    for (;;) {
      const answer = await this.#client.call(operation, input);
      if (answer.ok || !AWAY.has(answer.error.code) || performance.now() > until)
        return !answer.ok && answer.error.code === 'kept' ? { ok: true, result: null } : answer;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** The handoff, then the end. What comes back is why the end was refused, where it was. */
  async sendHandoffAndExit(
    message: HandoffMessage,
    { phase, exitProtocol }: RoleFacts,
    notes: string,
  ): Promise<ExitRefusal | undefined> {
    await this.call('handoff_send', { handoff: renderHandoff(message) });
    const to = message.kind === 'handoff' ? message.to : 'workflow-complete';
    this.print(`→ ${to}: ${notes}`);
    const ended = exitProtocol
      ? await this.#callWithRetry('exit_signal', {
          protocol: 'apm2_agent_exit',
          version: '1.0.0',
          phase_completed: phase,
          exit_reason: 'completed',
          notes,
        })
      : await this.#callWithRetry('agent_signal', { kind: 'complete', message: notes });
    return ended.ok ? undefined : ended.error;
  }

  /** The same where a refusal is nothing that the role could do anything about. */
  async requireHandoffAndExit(message: HandoffMessage, facts: RoleFacts, notes: string): Promise<void> {
    const refused = await this.sendHandoffAndExit(message, facts, notes);
    if (refused !== undefined) throw new Error(`the exit was refused: ${refused.message}`);
  }
}

const AWAY: ReadonlySet<string> = new Set(['daemon-away', 'no-answer', 'stopping']);
const AWAY_MS = 300_000;
const RETRY_MS = 200;

export type ExitRefusal = Extract<Answer, { ok: false }>['error'];

/** What a built-in role is told about its task: the answer of `workflow_get`, as far as it is used. */
export interface RoleFacts {
  readonly taskId: string;
  readonly title: string;
  readonly phase: string;
  readonly issue_url: string;
  readonly issue_number: string;
  readonly pr_url: string;
  readonly pr_number: string;
  readonly workspace: string | null;
  readonly branch: string | null;
  readonly port: number | null;
  readonly exitProtocol: boolean;
  readonly checks: readonly { readonly name: string; readonly outcome: string }[];
  readonly commands: {
    readonly install?: string;
    readonly build?: string;
    readonly smoke?: string;
    readonly validate: readonly RoleCommand[];
  };
}

export interface RoleCommand {
  readonly name: string;
  readonly run: string;
  readonly timeoutMs?: number;
}

/** The daemon is of the same version: its answer is taken at its word, field by field. */
export function parseRoleFacts(answer: unknown): RoleFacts {
  const view = answer as View; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const { task_id, title, phase, addresses, workspace, branch, port, exit_protocol, checks, commands } = view;
  const list = checks?.checks ?? [];
  return {
    taskId: task_id,
    title,
    phase,
    ...addresses,
    workspace,
    branch,
    port,
    exitProtocol: exit_protocol,
    checks: list,
    commands,
  };
}

interface View {
  readonly task_id: string;
  readonly title: string;
  readonly phase: string;
  readonly addresses: Pick<RoleFacts, 'issue_url' | 'issue_number' | 'pr_url' | 'pr_number'>;
  readonly workspace: string | null;
  readonly branch: string | null;
  readonly port: number | null;
  readonly exit_protocol: boolean;
  readonly checks: { readonly checks: RoleFacts['checks'] } | null;
  readonly commands: RoleFacts['commands'];
}
