import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import type { Claim } from '../api/operations/tasks.ts';
import { addClaimEndHint, type Backend, type BackendCall, CANCELLED_REASON, type McpConnection } from './connection.ts';
import { splitToken } from './tool-schema.ts';

export interface ToolContext {
  readonly backend: Backend;
  readonly connection: McpConnection;
  /** Whether tools take the token of a claim as an argument. */
  readonly takesToken: boolean;
  /** How often a client that asked for progress is notified while a call waits. */
  readonly progressMs: number;
}

/** Calls an operation for a connection, with its token and a key, until the client cancels it. */
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
  else if (isClaim(answer)) connection.noteClaim(id, answer.result);
  return answer;
}

/** An answer to `task_claim` has the claim that it declares. */
function isClaim(answer: Answer): answer is { readonly ok: true; readonly result: Claim } {
  return answer.ok;
}

/** Codex serves many conversations from one process, and names the conversation in each call. */
function conversationOf({ mcpReq }: ServerContext): { readonly conversation?: string } {
  const named: unknown = mcpReq._meta?.['threadId'];
  return typeof named === 'string' ? { conversation: named } : {};
}

/**
 * A client cancelled a claim while it waited. If the claim was granted at that moment, nobody would work on the task until the claim expires.
 * The same call with the same key returns the claim, and it is released.
 */
async function releaseClaim(backend: Backend, input: unknown, call: BackendCall): Promise<void> {
  const asked = typeof input === 'object' && input !== null ? { ...input, wait_ms: 0 } : input;
  const answer = await backend.call('task_claim', asked, call);
  if (!isClaim(answer)) return;
  const { task_id, token } = answer.result;
  await backend.call('task_release', { task_id, reason: CANCELLED_REASON }, { token, key: `${call.key}:release` });
}

/**
 * A client may call off a claim while the answer is on its way to it: the word of that comes when the request is long settled, and the
 * SDK passes it by. Nobody would know of such a claim, so it is given back, unless something was said under it since.
 */
export function releaseOnLateCancel(server: McpServer, { backend, connection }: ToolContext): void {
  const giveBack = (requestId: string | number): void => {
    const granted = connection.takeFreshClaim(requestId);
    if (granted === undefined) return;
    const { taskId, token } = granted;
    const key = `${connection.keyFor(requestId, 'task_claim', taskId)}:release`;
    void backend.call('task_release', { task_id: taskId, reason: CANCELLED_REASON }, { token, key });
  };
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    await connect(transport);
    const deliver = transport.onmessage?.bind(transport);
    const hear: typeof transport.onmessage = (message, extra) => {
      const requestId = cancelledRequestId(message);
      if (requestId !== undefined) giveBack(requestId);
      deliver?.(message, extra);
    };
    // Transports are no event targets: a property is all they have.
    transport.onmessage = hear; // oxlint-disable-line unicorn/prefer-add-event-listener
  };
}

function cancelledRequestId(message: object): string | number | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled' || !('params' in message))
    return undefined;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('requestId' in params)) return undefined;
  const { requestId } = params;
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}

/**
 * Tells a client that asked for it, now and then, that a long call is still going on. Clients give up on silence, after a
 * minute as a rule, and start counting anew when they hear something.
 */
export function reportWaiting({ mcpReq }: ServerContext, input: unknown, everyMs: number): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => {} };
  const total = waitOf(input);
  const since = performance.now();
  const tell = (): void => {
    const progress = Math.round(performance.now() - since);
    const params = { progressToken, progress, ...(total === undefined ? {} : { total }), message: 'still waiting' };
    // A client that is gone cannot be told; the call itself finds that out.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const timer = setInterval(tell, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function waitOf(input: unknown): number | undefined {
  if (typeof input !== 'object' || input === null || !('wait_ms' in input)) return undefined;
  return typeof input.wait_ms === 'number' ? input.wait_ms : undefined;
}
