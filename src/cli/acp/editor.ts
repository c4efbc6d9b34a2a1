import type { RpcConnection } from '../../acp/connection.ts';
import {
  type PermissionOption,
  type PermissionOutcome,
  type PlanEntry,
  type SessionUpdate,
  textBlock,
  type ToolCallParts,
} from '../../acp/messages.ts';
import { fieldsOf } from '../../protocol/shape/read-unknown.ts';
import { messageLine } from './plain-text.ts';

/** The editor's view of one session: shows output and asks questions. Unchanged content is not sent again. */
export class Editor {
  readonly #connection: RpcConnection;
  readonly #sessionId: string;
  readonly #calls = new Map<string, ToolCallParts>();
  #plan = '';

  constructor(connection: RpcConnection, sessionId: string) {
    this.#connection = connection;
    this.#sessionId = sessionId;
  }

  /** Sends a line of the agent's message. Escapes texts of agents and people in it. */
  say(text: string): void {
    this.markdown(`${messageLine(text)}\n\n`);
  }

  /** Sends Markdown. Only for Baton's own texts. */
  markdown(text: string): void {
    this.update({ sessionUpdate: 'agent_message_chunk', content: textBlock(text) });
  }

  showPlan(entries: readonly PlanEntry[]): void {
    const plan = JSON.stringify(entries);
    if (plan === this.#plan || entries.length === 0) return;
    this.#plan = plan;
    this.update({ sessionUpdate: 'plan', entries });
  }

  showCall(call: ToolCallParts & { readonly title: string }): void {
    const before = this.#calls.get(call.toolCallId);
    this.#calls.set(call.toolCallId, { ...before, ...call });
    if (before === undefined) return this.update({ sessionUpdate: 'tool_call', ...call });
    const changed = Object.entries(call).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(fieldsOf(before)[field]),
    );
    if (changed.length === 0) return;
    const { toolCallId } = call;
    this.update({ sessionUpdate: 'tool_call_update', toolCallId, ...Object.fromEntries(changed) });
  }

  /** Marks cancelled calls as failed, so that they do not appear to be running. */
  endCalls(): void {
    for (const { toolCallId, title = '', status } of this.#calls.values())
      if (status === 'in_progress' || status === 'pending') this.showCall({ toolCallId, title, status: 'failed' });
  }

  /** Rejects with `RpcError` if `signal` aborts or the editor disconnects. */
  async ask(
    toolCall: ToolCallParts,
    options: readonly PermissionOption[],
    signal: AbortSignal,
  ): Promise<PermissionOutcome> {
    const params = { sessionId: this.#sessionId, toolCall, options };
    const { outcome } = fieldsOf(await this.#connection.request('session/request_permission', params, signal));
    const { outcome: kind, optionId } = fieldsOf(outcome);
    // An option that was not offered does not count as an answer.
    const chosen = options.find((option) => kind === 'selected' && option.optionId === optionId);
    return chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId };
  }

  update(update: SessionUpdate): void {
    this.#connection.notify('session/update', { sessionId: this.#sessionId, update });
  }
}
