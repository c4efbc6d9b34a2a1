import { closeSync, openSync, readSync } from 'node:fs';
import {
  Agent,
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Environment } from '../../protocol/environment.ts';
import type { Injection } from '../../protocol/sandbox.ts';
import { classifyPath } from './meter/inference-paths.ts';
import { encodingOf, estimateInput, meterAnswer, type MeteredAnswer } from './meter/meter-answer.ts';
import type { BodyRefusal } from './meter/request-body.ts';
import type { RequestMeter } from './meter/request-meter.ts';
import { upstreamPath } from './meter/upstream-path.ts';
import { forwardedHeaders } from './proxy/forwarded-headers.ts';
import type { HostCounts } from './proxy/host-counts.ts';
import { describeFailure } from './proxy/find-route.ts';
import { agentProxy, findUpstreamProxy } from './proxy/upstream-proxy.ts';

export interface InjectionServer {
  readonly server: Server;
  /** A random path with which every request must begin, because on the host's network other users could connect too. */
  readonly path: string;
}

interface InjectionContext {
  readonly counts: HostCounts;
  readonly env: Environment;
  readonly meter: RequestMeter;
}

/**
 * A plain-HTTP server that forwards requests to `upstream` with the secret in a header, and counts what they use. Both
 * directions are streamed. The client never gets the secret: its own values of such headers are dropped, and so are
 * response headers that contain the secret.
 */
export function createInjectionServer(
  injection: Injection,
  secret: string,
  { counts, env, meter }: InjectionContext,
): InjectionServer {
  const path = `/${randomName()}`;
  const upstream = new URL(injection.upstream);
  let sender: Promise<Sender> | undefined;
  const busy = new WeakSet<Socket>();
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS });
  server.requestTimeout = 0;
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', (asked: IncomingMessage, response: ServerResponse) => {
    const rest = restOfPath(asked.url ?? '', path);
    if (rest === undefined) return endWith(response, 404, 'not_found', 'no such path: use the base URL unchanged');
    if (asked.headers.upgrade !== undefined)
      return endWith(response, 501, 'no_upgrade', "Baton's address for injected secrets serves HTTP, not WebSockets");
    // Answers of pipelined requests wait for the first, also those that nobody will read. No client of an API needs it.
    if (busy.has(asked.socket))
      return endWith(response, 503, 'no_pipelining', 'send one request after the other on a connection');
    busy.add(asked.socket);
    for (const event of ['finish', 'close']) response.once(event, () => busy.delete(asked.socket));
    const method = asked.method ?? '';
    if (!METHODS.has(method)) return endWith(response, 405, 'refused', 'this method is not passed on');
    const target = upstreamPath(upstream, rest, injection.header);
    if (target === undefined) return endWith(response, 403, 'refused', `only paths below ${upstream.pathname}`);
    const use = classifyPath(injection, method, target.below);
    if (use === 'refused') {
      const note = renderRefusedPath(injection, `${method} ${target.below}`);
      counts.refuse(upstream.host, `baton: ${note}`, `${method} ${target.below}`);
      return endWith(response, 403, 'path_refused', note);
    }
    const refuseBody = (refusal: BodyRefusal): void => {
      const note = renderRefusedBody(injection, refusal);
      counts.refuse(upstream.host, `baton: ${note}`, note);
      endWith(response, 403, 'body_refused', note);
    };
    if (use === 'metered' && encodingOf(asked.headers) !== '') return refuseBody('unreadable');
    const start = async (metered?: MeteredAnswer): Promise<void> => {
      counts.allow(upstream.host);
      sender ??= createSender(upstream, env);
      const send = await sender;
      if (response.destroyed) return metered?.cut();
      const headers = requestHeaders(asked, upstream, injection, secret);
      forward(send(target.path, method, headers), asked, response, { secret, metered, refuseBody });
    };
    const count = { api: injection.api, path: target.below, input: estimateInput(asked.headers) };
    void (use === 'free' ? start() : startMetered(count, response, meter, start)).catch((error: unknown) => {
      failWith(response, error);
    });
  });
  server.once('close', () => void sender?.then((send) => send.close()));
  return { server, path };
}

/** Forwards a request that is counted, unless a budget is used up. */
async function startMetered(
  count: Parameters<typeof meterAnswer>[0],
  response: ServerResponse,
  meter: RequestMeter,
  start: (metered: MeteredAnswer) => Promise<void>,
): Promise<void> {
  let metered: MeteredAnswer | undefined;
  const abandon = (): void => {
    metered?.cut();
    response.destroy();
  };
  const admission = await meter.admit({ input: count.input, abandon });
  if (!admission.ok) {
    // The SDKs of the three APIs repeat some requests; this one would be refused again.
    response.setHeader('x-should-retry', 'false');
    return endWith(response, 402, 'budget_used_up', admission.reason);
  }
  metered = meterAnswer(count, (used) => admission.settle(used));
  try {
    await start(metered);
  } catch (error) {
    metered.cut();
    throw error;
  }
}

/** TRACE is excluded: some servers answer it with the request's headers, and so with the secret. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const MAX_HEADER_BYTES = 32_768;
const MAX_CONNECTIONS = 256;
const KEEP_ALIVE_MS = 60_000;

/** Names the setting that allows the path, so that the operator can copy it. */
function renderRefusedPath({ secret, paths }: Injection, asked: string): string {
  const shown = asked.length > MAX_SHOWN ? `${asked.slice(0, MAX_SHOWN)}…` : asked;
  const setting = `paths = [${[...paths, shown].map((each) => JSON.stringify(each)).join(', ')}]`;
  return `the key ${secret} is not used for ${shown}. To allow it, write in the runbook, in [secrets], for ${secret}: ${setting}`;
}

const MAX_SHOWN = 200;

function renderRefusedBody({ secret }: Injection, refusal: BodyRefusal): string {
  return refusal === 'background'
    ? `the key ${secret} is not used for answers in the background, because Baton cannot count them. Send the request without background`
    : `the key ${secret} is not used for a request whose body is encoded, because Baton cannot read what it asks for. Send it as plain UTF-8`;
}

function restOfPath(url: string, prefix: string): string | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? rest : undefined;
}

/**
 * Headers with the client's own credentials, which would conflict with the secret; those that change the method or
 * leave the usage out of the answer; and the encoding, because Baton reads the answer.
 */
const DROPPED = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'cookie',
  'host',
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-goog-fieldmask',
  'accept-encoding',
];

function requestHeaders(
  { headers }: IncomingMessage,
  upstream: URL,
  { header, prefix }: Injection,
  secret: string,
): OutgoingHttpHeaders {
  const name = header.toLowerCase();
  return {
    ...forwardedHeaders(headers, [...DROPPED, name]),
    host: upstream.host,
    'accept-encoding': 'identity',
    [name]: `${prefix}${secret}`,
  };
}

interface Sender {
  (path: string, method: string, headers: OutgoingHttpHeaders): ReturnType<typeof request>;
  close(): void;
}

/** Loads TLS at the first request, and keeps the connection for later ones. */
async function createSender(upstream: URL, env: Environment): Promise<Sender> {
  const isTls = upstream.protocol === 'https:';
  const https = isTls ? await import('node:https') : undefined;
  const host = upstream.hostname.replaceAll(/[[\]]/g, '');
  const port = Number(upstream.port || (isTls ? 443 : 80));
  const options = { keepAlive: true, ...agentProxy(findUpstreamProxy(env, { host, port }, isTls)) };
  const agent = https === undefined ? new Agent(options) : new https.Agent(options);
  const open = https?.request ?? request;
  const send = (path: string, method: string, headers: OutgoingHttpHeaders): ReturnType<typeof request> =>
    open({ host, port, path, method, headers, agent });
  return Object.assign(send, { close: () => agent.destroy() });
}

interface ForwardOptions {
  readonly secret: string;
  readonly metered: MeteredAnswer | undefined;
  readonly refuseBody: (refusal: BodyRefusal) => void;
}

function forward(
  sent: ReturnType<typeof request>,
  asked: IncomingMessage,
  response: ServerResponse,
  { secret, metered, refuseBody }: ForwardOptions,
): void {
  sent.once('response', (answer) => {
    const headers = Object.entries(forwardedHeaders(answer.headers)).filter(
      ([, value]) => !String(value).includes(secret),
    );
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers));
    // The client waits for the status, and a stream's first bytes may come late.
    response.flushHeaders();
    answer.once('error', () => response.destroy());
    const pass = (): void => void answer.pipe(response);
    if (metered === undefined) pass();
    else metered.follow(answer, pass);
  });
  sent.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', () => metered?.connected());
    else metered?.connected();
  });
  sent.once('error', (error) => {
    metered?.cut();
    failWith(response, error);
  });
  response.once('close', () => {
    metered?.cut();
    sent.destroy();
  });
  const body = metered?.send(asked, (refusal) => {
    sent.destroy();
    if (response.headersSent) response.destroy();
    else refuseBody(refusal);
  });
  (body ?? asked).pipe(sent);
}

function failWith(response: ServerResponse, error: unknown): void {
  if (response.writableEnded) return;
  if (response.headersSent) response.destroy();
  else endWith(response, 502, 'upstream_unreachable', `Baton cannot reach the API: ${describeFailure(error)}`);
}

/** Sends an error in the APIs' own format, so that clients show the message. */
function endWith(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ type: 'error', error: { type, code: status, message: `baton: ${message}` } }));
}

/** Reads random bytes from the system, because `node:crypto` would cost each supervisor two megabytes. */
function randomName(): string {
  const bytes = Buffer.alloc(16);
  const file = openSync('/dev/urandom', 'r');
  readSync(file, bytes);
  closeSync(file);
  return bytes.toString('hex');
}
