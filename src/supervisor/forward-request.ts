import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { decodeProjectPath, findBearerToken, MATCHED_HEADER, readBody } from '../api/http/request.ts';
import { sendJson } from '../api/http/respond.ts';
import { KEEPABLE } from '../api/outbox.ts';
import { isVerdictCall, useTheTool } from '../protocol/handoff/judge.ts';
import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import type { Launch } from './contract.ts';
import type { DaemonConnection } from './daemon-connection.ts';
import { BAD_TOKEN, respondAnswer, respondError } from './hooks/hook-server.ts';
import { isFinalSignal } from './outbox-signal.ts';
import { type JudgeCalls, refuseMessages } from './verdicts/judge-calls.ts';

interface ForwardingAgent {
  readonly launch: Launch;
  readonly daemon: DaemonConnection;
  readonly onForwarded: (what: 'signal' | 'unseen' | 'anything') => void;
  readonly newKey: (name: string) => string;
  readonly judgeCalls: JudgeCalls;
  /** Resolves when the start of the process is recorded: a verdict is judged by what the record says. */
  readonly announced: Promise<unknown>;
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
  if (isOwn && request.method === 'POST' && request.url === '/mcp') return forwardTools(agent, request, response);
  const isRead = !KEEPABLE.has(operation) && !(agent.judgeCalls.isSeparated && isVerdictCall(operation, {}));
  if (!isOwn || request.method !== 'POST' || isRead) return forwardStream(request, response, agent.daemon, isOwn);
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return respondError(response, body.error);
  if (agent.judgeCalls.isSeparated && isVerdictCall(operation, fieldsInJson(body.bytes.toString('utf8'))))
    return respondError(response, useTheTool(operation));
  const { 'idempotency-key': key, 'baton-project-path': path } = request.headers;
  const input = body.bytes.toString('utf8');
  const answer = await agent.daemon.send({
    operation,
    input,
    token: findBearerToken(request.headers) ?? '',
    key: typeof key === 'string' ? key : agent.newKey('passed'),
    headers: without(request.headers, OWN_HEADERS),
    ...(typeof path === 'string' ? { projectPath: decodeProjectPath(path) ?? path } : {}),
  });
  const isRecorded = answer.ok || answer.error.code === 'kept';
  if (isRecorded && isFinalSignal(operation, input)) agent.onForwarded('signal');
  respondAnswer(response, answer);
}

/** Forwards tool calls. A verdict of a judge is forwarded only if it is in its client's output, and says so. */
async function forwardTools(
  { daemon, judgeCalls, announced, launch }: ForwardingAgent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return respondError(response, body.error);
  const checked = await judgeCalls.check(body.bytes);
  if (checked.kind === 'unmatched') {
    const reason = `${checked.tool} is not in the output of this session's client: only its own tool calls count as its verdict`;
    const isBatch = body.bytes.toString('utf8').trimStart().startsWith('[');
    return sendJson(response, 200, refuseMessages(checked.messages, isBatch, reason));
  }
  if (checked.kind === 'plain') return pipe(request, response, daemon, { isOwn: true, body: body.bytes });
  await announced;
  return pipe(request, response, daemon, {
    isOwn: true,
    body: body.bytes,
    headers: { [MATCHED_HEADER]: launch.token },
  });
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
  return pipe(request, response, line, { isOwn, ...(body === undefined ? {} : { body: body.bytes }) });
}

interface Piped {
  readonly isOwn: boolean;
  readonly body?: Buffer;
  readonly headers?: IncomingHttpHeaders;
}

async function pipe(
  request: IncomingMessage,
  response: ServerResponse,
  line: DaemonConnection,
  { isOwn, body, headers = {} }: Piped,
): Promise<void> {
  const from = await line.openStream(request, { ...without(request.headers, OWN_HEADERS), ...headers }, body);
  if (from === undefined) return respondError(response, isOwn ? FORWARD_AWAY : BAD_TOKEN);
  if (response.destroyed) return void from.destroy();
  response.writeHead(from.statusCode ?? 502, without(from.headers, RESPONSE_HEADERS));
  response.flushHeaders();
  from.pipe(response);
  from.once('error', () => response.destroy());
  response.once('close', () => from.destroy());
}

const RESPONSE_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);
const OWN_HEADERS = new Set([...RESPONSE_HEADERS, 'host', 'content-length', 'expect', MATCHED_HEADER]);

function without(headers: IncomingHttpHeaders, names: ReadonlySet<string>): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)));
}

const FORWARD_AWAY = {
  code: 'daemon-away',
  message: 'the daemon is away, and this call needs its answer',
  hint: 'Continue with other work and try again in a moment.',
} as const;
