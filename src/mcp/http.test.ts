import { describe, expect, it, vi } from 'vitest';
import type { Answer } from '../api/answer.ts';
import type { Backend } from './connection.ts';
import { createMcpHttp, type McpHttp } from './http.ts';
import { createMcpServer } from './server.ts';

describe('sessions over HTTP', () => {
  it('are limited; the least recently used one is closed', async () => {
    const http = open(async () => DONE);
    const [first, second] = [await openSession(http), await openSession(http)];
    expect(await ping(http, first)).toBe(200);
    const third = await openSession(http);
    expect(await ping(http, second)).toBe(404);
    expect(await ping(http, first)).toBe(200);
    expect(await ping(http, third)).toBe(200);
    await http.close();
    expect(await ping(http, first)).toBe(404);
  });

  it('end when the client deletes them', async () => {
    const http = open(async () => DONE);
    const id = await openSession(http);
    const request = new Request(URL_OF_IT, { method: 'DELETE', headers: { 'mcp-session-id': id } });
    expect((await http.handle({ request, token: 'w', projectPath: undefined })).status).toBe(200);
    expect(await ping(http, id)).toBe(404);
  });

  it('cancel a waiting call when its stream breaks', async () => {
    const call = vi.fn<Backend['call']>(
      async (_operation, _input, { signal }) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve(DONE));
        }),
    );
    const http = open(call);
    const id = await openSession(http);
    const gone = new AbortController();
    const params = { name: 'task_next_actions', arguments: { wait_ms: 600_000 } };
    await post(http, { jsonrpc: '2.0', id: 7, method: 'tools/call', params }, { 'mcp-session-id': id }, gone.signal);
    await vi.waitFor(() => expect(call).toHaveBeenCalledOnce());
    gone.abort();
    await vi.waitFor(() => expect(call.mock.calls[0]?.[2].signal?.aborted).toBe(true));
    await http.close();
  });

  it('cancel a call whose client disconnected before it was received', async () => {
    const call = vi.fn<Backend['call']>(
      async (_operation, _input, { signal }) =>
        new Promise((resolve) => {
          if (signal?.aborted === true) resolve(DONE);
          signal?.addEventListener('abort', () => resolve(DONE));
        }),
    );
    const http = open(call);
    const id = await openSession(http);
    const params = { name: 'task_next_actions', arguments: { wait_ms: 600_000 } };
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params };
    await post(http, message, { 'mcp-session-id': id }, AbortSignal.abort());
    await vi.waitFor(() => expect(call.mock.calls.map(([, , { signal }]) => signal?.aborted)).toEqual([true]));
    await http.close();
  });

  it('refuse batches of anything but messages', async () => {
    const http = open(async () => DONE);
    expect((await post(http, 'nonsense', {})).status).toBe(400);
    await http.close();
  });
});

const URL_OF_IT = 'http://127.0.0.1/mcp';
const DONE: Answer = { ok: true, result: {} };

function open(call: Backend['call']): McpHttp {
  return createMcpHttp((connection) => createMcpServer({ call }, { connection, version: '0' }), { maxSessions: 2 });
}

async function openSession(http: McpHttp): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  const response = await post(http, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, {});
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

async function ping(http: McpHttp, sessionId: string): Promise<number> {
  const response = await post(http, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': sessionId });
  await response.text();
  return response.status;
}

async function post(
  http: McpHttp,
  body: unknown,
  more: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response> {
  const request = new Request(URL_OF_IT, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  return http.handle({ request, body, token: 'w', projectPath: undefined });
}
