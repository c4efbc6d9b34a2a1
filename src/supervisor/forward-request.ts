import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { decodeProjectPath, findBearerToken, readBody } from '../api/http/request.ts';
import { KEEPABLE } from '../api/outbox.ts';
import type { Launch } from './contract.ts';
import type { DaemonConnection } from './daemon-connection.ts';
import { BAD_TOKEN, respondAnswer, respondError } from './hooks/hook-server.ts';
import { isFinalSignal } from './outbox-signal.ts';

interface ForwardingAgent {
  readonly launch: Launch;
  readonly daemon: DaemonConnection;
  readonly onForwarded: (what: 'signal' | 'unseen' | 'anything') => void;
  readonly newKey: (name: string) => string;
}

/**
 * Forwards an agent's request to the daemon as bytes. If the daemon is away, a write is kept in the outbox and answered
 * as kept, so that the agent need not repeat it. The daemon judges requests with other tokens; none of them is kept.
 */
export async function forwardRequest(
  agent: ForwardingAgent,
  request: IncomingMessage,
  response: ServerResponse,
  isOwn: boolean,
): Promise<void> {
  const operation = (request.url ?? '').slice('/v1/'.length);
  if (isOwn) agent.onForwarded(request.url === '/mcp' ? 'unseen' : 'anything');
  if (!isOwn || request.method !== 'POST' || !KEEPABLE.has(operation)) {
    return forwardStream(request, response, agent.daemon, isOwn);
  }
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return respondError(response, body.error);
  const { 'idempotency-key': key, 'baton-project-path': path } = request.headers;
  const input = body.bytes.toString('utf8');
  const answer = await agent.daemon.send({
    operation,
    input,
    token: findBearerToken(request.headers) ?? '',
    key: typeof key === 'string' ? key : agent.newKey('passed'),
    headers: without(request.headers, CONNECTION_HEADERS),
    ...(typeof path === 'string' ? { projectPath: decodeProjectPath(path) ?? path } : {}),
  });
  const isRecorded = answer.ok || answer.error.code === 'kept';
  if (isRecorded && isFinalSignal(operation, input)) agent.onForwarded('signal');
  respondAnswer(response, answer);
}

/** Pipes both directions, for waiting calls, event streams and MCP. */
async function forwardStream(
  request: IncomingMessage,
  response: ServerResponse,
  line: DaemonConnection,
  isOwn: boolean,
): Promise<void> {
  const body = request.method === 'POST' ? await readBody(request) : undefined;
  if (body === 'gone') return;
  if (body?.ok === false) return respondError(response, body.error);
  const from = await line.openStream(request, without(request.headers, CONNECTION_HEADERS), body?.bytes);
  if (from === undefined) return respondError(response, isOwn ? FORWARD_AWAY : BAD_TOKEN);
  if (response.destroyed) return void from.destroy();
  response.writeHead(from.statusCode ?? 502, without(from.headers, RESPONSE_HEADERS));
  response.flushHeaders();
  from.pipe(response);
  from.once('error', () => response.destroy());
  response.once('close', () => from.destroy());
}

const RESPONSE_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const CONNECTION_HEADERS = new Set([...RESPONSE_HEADERS, 'host', 'content-length', 'expect']);

function without(headers: IncomingHttpHeaders, names: ReadonlySet<string>): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)));
}

const FORWARD_AWAY = {
  code: 'daemon-away',
  message: 'the daemon is away, and this call needs its answer',
  hint: 'Continue with other work and try again in a moment.',
} as const;
