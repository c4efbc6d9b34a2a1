import type { McpServer } from '@modelcontextprotocol/server';
import type { ToolContext } from './call-tool.ts';
import { CANCELLED_REASON } from './claim-ends.ts';

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
