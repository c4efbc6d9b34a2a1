import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Answer, ApiError } from '../../api/answer.ts';
import { findBearerToken, isEqualSecret, isLoopbackHost, readBody } from '../../api/http/request.ts';
import { sendAnswer, sendJson } from '../../api/http/respond.ts';

export interface HookRoutes {
  hook(name: string, body: Buffer): Promise<object>;
  /** Handles `/control`; requires the supervisor's token. */
  control(body: Buffer): Promise<object>;
  /** Handles every other path by forwarding it to the daemon. `isOwn`: the request has this agent's token. */
  forward(request: IncomingMessage, response: ServerResponse, isOwn: boolean): Promise<void>;
}

export interface HookServerOptions {
  readonly agentToken: string;
  readonly supervisorToken: string;
  readonly routes: HookRoutes;
  /** Handles `/terminal` for `baton agent attach`; requires the supervisor's token and a launch in a terminal. */
  readonly terminal?: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
}

export interface HookServer {
  readonly port: number;
  /** Answers a request that arrived at another address, such as the one inside a sandbox. */
  readonly serve: (request: IncomingMessage, response: ServerResponse) => void;
  /** Closes the server after pending responses are sent, or after the given time. */
  close(withinMs: number): Promise<void>;
}

export async function startHookServer(options: HookServerOptions): Promise<HookServer> {
  const open = new Set<ServerResponse>();
  const server = createServer({ keepAliveTimeout: 120_000, noDelay: true, maxHeaderSize: 16_384 });
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    open.add(response);
    response.once('close', () => open.delete(response));
    handleRequest(request, response, options).catch(() => respondError(response, FAILED));
  };
  server.on('request', serve);
  // Requests have no timeout: a stop waits for the daemon, and a stream never ends.
  server.requestTimeout = 0;
  server.maxConnections = MAX_CONNECTIONS;
  const close = async (withinMs: number): Promise<void> => {
    const closing = [...open].map(async (response) => new Promise((resolve) => void response.once('close', resolve)));
    await Promise.race([Promise.all(closing), new Promise((resolve) => void setTimeout(resolve, withinMs))]);
    // Closing earlier would cut off responses that are written but not yet sent.
    server.close();
    server.closeAllConnections();
  };
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, serve, close };
}

/** A hook's body contains the agent's last message and its tool's output. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: HookServerOptions,
): Promise<void> {
  response.sendDate = false;
  const { headers, url = '', method } = request;
  // This check precedes that of the token: a web page under a rebound DNS name must not learn whether its token is
  // valid.
  if (!isLoopbackHost(headers) || headers.origin !== undefined) return respondError(response, BAD_HOST);
  const token = findBearerToken(headers);
  if (token === undefined) return respondError(response, NO_TOKEN);
  const isSupervisors = isEqualSecret(token, options.supervisorToken);
  const isOwn = isSupervisors || isEqualSecret(token, options.agentToken);
  const isHook = url.startsWith('/hook/');
  const isTerminal = url === '/terminal';
  if (!isHook && !isTerminal && url !== '/control') {
    if (!url.startsWith('/v1/') && url !== '/mcp') return respondError(response, NO_SUCH_PATH);
    return options.routes.forward(request, response, isOwn);
  }
  if (isHook ? !isOwn : !isSupervisors) return respondError(response, BAD_TOKEN);
  if (method !== 'POST') return respondError(response, BAD_METHOD);
  if (isTerminal) return options.terminal?.(request, response) ?? respondError(response, NO_TERMINAL);
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === 'gone') return;
  if (!body.ok) return respondError(response, body.error);
  const { routes } = options;
  const reply = isHook ? routes.hook(url.slice('/hook/'.length), body.bytes) : routes.control(body.bytes);
  sendJson(response, 200, await reply);
}

export function respondError(response: ServerResponse, error: ApiError): void {
  respondAnswer(response, { ok: false, error });
}

/** Sends an answer. Most errors here mean that the daemon is away, so an error without its own status is 503. */
export function respondAnswer(response: ServerResponse, answer: Answer): void {
  sendAnswer(response, answer, { otherStatus: 503 });
}

const error = (code: string, message: string, hint: string): ApiError => ({ code, message, hint });
const BAD_HOST = error('bad-host', 'the Host header does not name this machine', 'Use BATON_URL unchanged.');
const NO_TOKEN = error(
  'no-token',
  'a token is needed',
  'Send the header `Authorization: Bearer TOKEN`, with BATON_TOKEN.',
);
export const BAD_TOKEN = error('bad-token', 'the token is not that of this agent', 'Send the one in BATON_TOKEN.');
const NO_SUCH_PATH = error('no-such-path', 'no such path', 'See: baton docs api');
const BAD_METHOD = error('bad-method', 'this path requires POST', 'See: baton docs api');
const NO_TERMINAL = error('not-attached', 'this process does not run in a terminal', 'Use: baton agent attach ID');
const FAILED = error('internal', 'internal error in the supervisor', "See supervisor.log in the agent's folder.");

const MAX_CONNECTIONS = 256;
