import type { McpServer } from '@modelcontextprotocol/server';
import type { Calling } from './call-tool.ts';
import { CALLED_OFF } from './claim-ends.ts';

/**
 * A client may call off a claim while the answer is on its way to it: the word of that comes when the request is long settled, and the
 * SDK passes it by. Nobody would know of such a claim, so it is given back, unless something was said under it since.
 */
export function releaseWhenCalledOff(server: McpServer, { backend, connection }: Calling): void {
  const giveBack = (requestId: string | number): void => {
    const granted = connection.takeFresh(requestId);
    if (granted === undefined) return;
    const { taskId, token } = granted;
    const key = `${connection.keyFor(requestId, 'task_claim', taskId)}:release`;
    void backend.call('task_release', { task_id: taskId, reason: CALLED_OFF }, { token, key });
  };
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    await connect(transport);
    const deliver = transport.onmessage?.bind(transport);
    const hear: typeof transport.onmessage = (message, extra) => {
      const requestId = calledOff(message);
      if (requestId !== undefined) giveBack(requestId);
      deliver?.(message, extra);
    };
    // Transports are no event targets: a property is all they have.
    transport.onmessage = hear; // oxlint-disable-line unicorn/prefer-add-event-listener
  };
}

function calledOff(message: object): string | number | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled' || !('params' in message))
    return undefined;
  const { params } = message;
  if (typeof params !== 'object' || params === null || !('requestId' in params)) return undefined;
  const { requestId } = params;
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}
