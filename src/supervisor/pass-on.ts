import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { KEEPABLE } from '../api/outbox.ts';
import type { DaemonLine } from './daemon-line.ts';
import { answer, BAD_TOKEN, readBody, refuse, TOO_LARGE } from './door.ts';
import { isSignal } from './kept-signal.ts';

export interface PassOptions {
  readonly line: DaemonLine;
  /** For calls without a key of their own. */
  readonly newKey: () => string;
  /** Before it is answered: the agent has signalled, asked something that we do not look into, or said anything at all. */
  readonly onSaid: (what: 'signal' | 'unseen' | 'anything') => void;
}

/**
 * Passes what the agent says on to the daemon, as bytes. What says something and reaches nobody is kept, and answered so: an agent never
 * has to say it again. Tokens that are not the agent's own are for the daemon to judge, and nothing of theirs is kept.
 */
export async function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { line, newKey, onSaid }: PassOptions,
  isOwn: boolean,
): Promise<void> {
  const operation = (request.url ?? '').slice('/v1/'.length);
  if (isOwn) onSaid(request.url === '/mcp' ? 'unseen' : 'anything');
  if (!isOwn || request.method !== 'POST' || !KEEPABLE.has(operation)) {
    return passStream(request, response, line, isOwn);
  }
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === undefined) return refuse(response, TOO_LARGE);
  const { authorization = '', 'idempotency-key': key, 'baton-project-path': path } = request.headers;
  const input = body.toString('utf8');
  const said = await line.say({
    operation,
    input,
    token: authorization.slice(7).trim(),
    key: typeof key === 'string' ? key : newKey(),
    headers: without(request.headers, OF_THE_CONNECTION),
    ...(typeof path === 'string' ? { projectPath: decoded(path) } : {}),
  });
  const isHeard = said.ok || said.error.code === 'kept';
  if (isHeard && isSignal(operation, input)) onSaid('signal');
  if (said.ok) answer(response, 200, said);
  else refuse(response, said.error);
}

/** The daemon's own limit; it refuses what is larger. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Both ways as it comes: calls that wait, streams of events, MCP. */
async function passStream(
  request: IncomingMessage,
  response: ServerResponse,
  line: DaemonLine,
  isOwn: boolean,
): Promise<void> {
  const body = request.method === 'POST' ? await readBody(request, MAX_BODY_BYTES) : undefined;
  if (request.method === 'POST' && body === undefined) return refuse(response, TOO_LARGE);
  const from = await line.open({
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: without(request.headers, OF_THE_CONNECTION),
    ...(body === undefined ? {} : { body }),
  });
  if (from === undefined) return refuse(response, isOwn ? AWAY : BAD_TOKEN);
  if (response.destroyed) return void from.destroy();
  response.writeHead(from.statusCode ?? 502, without(from.headers, OF_THE_ANSWER));
  response.flushHeaders();
  from.pipe(response);
  from.once('error', () => response.destroy());
  response.once('close', () => from.destroy());
}

/** What is about the connection, and not about what was said over it. */
const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'expect',
]);
const OF_THE_ANSWER = new Set(['connection', 'keep-alive', 'transfer-encoding']);

function without(headers: IncomingHttpHeaders, names: ReadonlySet<string>): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)));
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const AWAY = {
  code: 'daemon-away',
  message: 'the daemon is away, and this needs its answer',
  hint: 'Go on with other work, and ask again in a moment.',
} as const;
