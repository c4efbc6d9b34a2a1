import type { ServerContext } from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import type { Backend, BackendCall } from './backend.ts';
import { addClaimEndHint, CANCELLED_REASON } from './claim-ends.ts';
import type { McpConnection } from './connection.ts';
import { reportWaiting } from './report-waiting.ts';
import { splitToken } from './tool-schema.ts';

export interface ToolContext {
  readonly backend: Backend;
  readonly connection: McpConnection;
  /** Whether tools take the token of a claim as an argument. */
  readonly takesToken: boolean;
  /** How often a client that asked for it hears that a wait goes on. */
  readonly progressMs: number;
}

/** Performs an operation for a connection: with its token and a key, until the client has had enough. */
export async function callTool(
  calling: ToolContext,
  operation: Operation,
  args: unknown,
  context: ServerContext,
): Promise<Answer> {
  const { backend, connection } = calling;
  const { id, signal } = context.mcpReq;
  const { input, token } = calling.takesToken ? splitToken(args) : { input: args };
  const call: BackendCall = {
    ...(token === undefined ? connection.tokenFor(operation, input, id) : { token }),
    ...(operation.kind === 'write' ? { key: connection.keyFor(id, operation.name, input) } : {}),
    ...conversationOf(context),
  };
  using _waiting = reportWaiting(context, input, calling.progressMs);
  const answer = await backend.call(operation.name, input, { ...call, signal });
  const speaksFor = connection.noteAnswer({ requestId: id, operation, input, token: call.token, answer });
  if (operation.name !== 'task_claim') return addClaimEndHint(answer, speaksFor);
  if (signal.aborted) await releaseClaim(backend, input, call);
  else if (answer.ok) connection.noteClaim(id, answer.result);
  return answer;
}

/** Codex serves many conversations from one process, and says with each call which one it is. */
function conversationOf({ mcpReq }: ServerContext): { readonly conversation?: string } {
  const named: unknown = mcpReq._meta?.['threadId'];
  return typeof named === 'string' ? { conversation: named } : {};
}

/**
 * A claim was given up while it waited. If it was granted in that very moment, nobody would ever work on the task, and others
 * would wait until the claim expires. Asking again with the same key tells, and then it goes back.
 */
async function releaseClaim(backend: Backend, input: unknown, call: BackendCall): Promise<void> {
  const asked = typeof input === 'object' && input !== null ? { ...input, wait_ms: 0 } : input;
  const answer = await backend.call('task_claim', asked, call);
  if (!answer.ok || typeof answer.result !== 'object' || answer.result === null) return;
  const { task_id, token } = answer.result as { task_id?: unknown; token?: unknown }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  if (typeof token !== 'string') return;
  await backend.call('task_release', { task_id, reason: CANCELLED_REASON }, { token, key: `${call.key}:release` });
}
