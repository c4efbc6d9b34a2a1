import { request } from 'node:http';
import { fieldsInJson, fieldsOf, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import type { ToolResult } from './tools.ts';

/** Calls a tool of Baton's MCP server, as a client does: it opens a session, and calls the tool in it. */
export async function callBaton(tool: string, input: object): Promise<ToolResult> {
  const url = `${process.env['BATON_URL'] ?? ''}/mcp`;
  const token = process.env['BATON_TOKEN'] ?? '';
  try {
    const about = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'scripted', version: '1' } };
    const opened = await send(url, { authorization: `Bearer ${token}` }, message('initialize', about));
    const headers = { authorization: `Bearer ${token}`, 'mcp-session-id': opened.sessionId };
    await send(url, headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
    const answered = await send(url, headers, message('tools/call', { name: tool, arguments: input }));
    return resultOf(answered.text);
  } catch (error) {
    return { output: error instanceof Error ? error.message : String(error), isError: true };
  }
}

const REVISION = '2025-06-18';

function message(method: string, params: object): object {
  return { jsonrpc: '2.0', id: method, method, params };
}

interface Response {
  readonly text: string;
  readonly sessionId: string;
}

async function send(url: string, headers: Readonly<Record<string, string>>, body: object): Promise<Response> {
  const text = JSON.stringify(body);
  const accept = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: { ...headers, ...accept, 'content-length': Buffer.byteLength(text) },
  });
  sent.once('error', reject);
  sent.once('response', (response) => {
    let received = '';
    response.setEncoding('utf8').on('data', (piece: string) => (received += piece));
    response.once('error', reject);
    response.once('end', () => resolve({ text: received, sessionId: textOf(response.headers['mcp-session-id']) }));
  });
  sent.end(text);
  return promise;
}

/** The answer is JSON, or the last event of a stream. */
function resultOf(text: string): ToolResult {
  const data = text.startsWith('{') ? text : (/^data: (.*)$/gm.exec(text)?.[1] ?? '{}');
  const { result, error } = fieldsInJson(data);
  if (result === undefined) return { output: textOf(fieldsOf(error)['message']) || data, isError: true };
  const { content, isError } = fieldsOf(result);
  const words = objectsOf(content).map(({ text: words }) => textOf(words));
  return { output: words.join('\n'), isError: isError === true };
}
