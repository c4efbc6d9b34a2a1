import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import type { Answer } from '../api/answer.ts';
import type { Operation } from '../api/operations/operation.ts';
import type { Claim } from '../api/operations/tasks.ts';
import { fieldOf } from '../protocol/shape/read-unknown.ts';
import {
  addClaimEndHint,
  type Backend,
  type BackendCall,
  CANCELLED_REASON,
  isClaimOver,
  type McpConnection,
  mayEndClaim,
} from './connection.ts';
import { splitToken } from './tool-schema.ts';

export interface ToolContext {
  readonly backend: Backend;
  readonly connection: McpConnection;
  /** Whether tools accept a claim's token as an argument. Set for transports without lasting connections. */
  readonly takesToken: boolean;
  /** How often a client that asked for progress is notified during a wait. */
  readonly progressMs: number;
}

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
    ...matchedBy(context),
  };
  using _waiting = reportWaiting(context, input, calling.progressMs);
  const answer = await backend.call(operation.name, input, { ...call, signal });
  const speaksFor = connection.noteAnswer(id, operation, input, call.token, answer);
  if (operation.name !== 'task_claim') return addClaimEndHint(answer, speaksFor);
  if (signal.aborted) await releaseClaim(backend, input, call);
  else if (isClaim(answer)) connection.noteClaim(id, answer.result);
  return answer;
}

/**
 * Reports whether the call may have begun or ended a claim, or found one ended, so that the list of tools may change.
 */
export function mayChangeTools({ name }: Operation, input: unknown, answer: Answer): boolean {
  if (!answer.ok) return isClaimOver(answer);
  return name === 'task_claim' || mayEndClaim(name, input);
}

/** Reports whether an answer to `task_claim` grants a claim. */
function isClaim(answer: Answer): answer is { readonly ok: true; readonly result: Claim } {
  return answer.ok;
}

/**
 * The conversation of the call. Codex serves many conversations from one process and names the conversation in each
 * call.
 */
function conversationOf({ mcpReq }: ServerContext): { readonly conversation?: string } {
  const named: unknown = mcpReq._meta?.['threadId'];
  return typeof named === 'string' ? { conversation: named } : {};
}

/** Set by the daemon for a request that a supervisor forwarded with its own token. */
function matchedBy({ http }: ServerContext): { readonly matched?: string } {
  const matched = http?.authInfo?.extra?.['matched'];
  return typeof matched === 'string' ? { matched } : {};
}

/**
 * Releases the claim of a cancelled request, which nobody would work on. A repeat with the same key shows whether it
 * was granted.
 */
async function releaseClaim(backend: Backend, input: unknown, call: BackendCall): Promise<void> {
  const withoutWait = typeof input === 'object' && input !== null ? { ...input, wait_ms: 0 } : input;
  const answer = await backend.call('task_claim', withoutWait, call);
  if (!isClaim(answer)) return;
  const { task_id, token } = answer.result;
  await backend.call('task_release', { task_id, reason: CANCELLED_REASON }, { token, key: `${call.key}:release` });
}

/**
 * Releases an unused claim if the cancellation arrives after the answer. The SDK ignores such a cancellation, so the
 * client would not know of its claim.
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
    const onMessage: typeof transport.onmessage = (message, extra) => {
      const requestId = cancelledRequestId(message);
      if (requestId !== undefined) giveBack(requestId);
      deliver?.(message, extra);
    };
    // Transports have no `addEventListener`.
    transport.onmessage = onMessage; // oxlint-disable-line unicorn/prefer-add-event-listener
  };
}

function cancelledRequestId(message: object): string | number | undefined {
  if (fieldOf(message, 'method') !== 'notifications/cancelled') return undefined;
  const requestId = fieldOf(fieldOf(message, 'params'), 'requestId');
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}

/** Clients give up after about a minute of silence, and restart that timer with each progress notification. */
function reportWaiting({ mcpReq }: ServerContext, input: unknown, everyMs: number): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => {} };
  const total = fieldOf(input, 'wait_ms');
  const since = performance.now();
  const tell = (): void => {
    const progress = Math.round(performance.now() - since);
    const params = {
      progressToken,
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      message: 'still waiting',
    };
    // The client has disconnected; the call itself is cancelled separately.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
  const timer = setInterval(tell, everyMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
