/** A server with one tool, over HTTP without sessions: enough for a client to list and call it. */
export function answerMcp(method: string | undefined, request: Readonly<Record<string, unknown>>): McpAnswer {
  if (method !== 'POST') return { status: 405, body: '' };
  // A notification is accepted without a response.
  if (request['id'] === undefined) return { status: 202, body: '' };
  const params = (request['params'] ?? {}) as Readonly<Record<string, unknown>>;
  const result = resultOf(String(request['method']), params);
  const body = JSON.stringify({ jsonrpc: '2.0', id: request['id'], result });
  return { status: 200, body, ...(request['method'] === 'tools/call' && { tool: String(params['name']) }) };
}

interface McpAnswer {
  readonly status: number;
  readonly body: string;
  /** The name of the called tool. */
  readonly tool?: string;
}

function resultOf(method: string, params: Readonly<Record<string, unknown>>): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'baton', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'task_brief', description: 'What is to be done.', inputSchema: { type: 'object' } }] };
    case 'tools/call':
      return { content: [{ type: 'text', text: 'the brief of the task' }] };
    default:
      return {};
  }
}
