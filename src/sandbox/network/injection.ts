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
import type { Environment } from '../../protocol/environment.ts';
import type { Injection } from '../../protocol/sandbox.ts';
import { forwardedHeaders } from './proxy/forwarded-headers.ts';
import type { HostCounts } from './proxy/host-counts.ts';
import { describeFailure } from './proxy/find-route.ts';
import { agentProxy, findUpstreamProxy } from './proxy/upstream-proxy.ts';

export interface InjectionServer {
  readonly server: Server;
  /** A random path with which every request must begin, because on the host's network other users could connect too. */
  readonly path: string;
}

/**
 * A plain-HTTP server that forwards requests to `upstream` with the secret in a header. Both directions are streamed.
 * The client never gets the secret: its own values of such headers are dropped, and so are response headers that
 * contain the secret.
 */
export function createInjectionServer(
  injection: Injection,
  secret: string,
  { counts, env }: { readonly counts: HostCounts; readonly env: Environment },
): InjectionServer {
  const path = `/${randomName()}`;
  const upstream = new URL(injection.upstream);
  let sender: Promise<Sender> | undefined;
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, noDelay: true, keepAliveTimeout: KEEP_ALIVE_MS });
  server.requestTimeout = 0;
  server.maxConnections = MAX_CONNECTIONS;
  server.on('request', (asked: IncomingMessage, response: ServerResponse) => {
    const rest = restOfPath(asked.url ?? '', path);
    if (rest === undefined) return endWith(response, 404, 'not_found', 'no such path: use the base URL unchanged');
    if (asked.headers.upgrade !== undefined)
      return endWith(response, 501, 'no_upgrade', "Baton's address for injected secrets serves HTTP, not WebSockets");
    if (!METHODS.has(asked.method ?? '')) return endWith(response, 405, 'refused', 'this method is not passed on');
    const target = upstreamPath(upstream, rest, injection.header);
    if (target === undefined) return endWith(response, 403, 'refused', `only paths below ${upstream.pathname}`);
    counts.allow(upstream.host);
    sender ??= createSender(upstream, env);
    sender
      .then((send) => {
        const headers = requestHeaders(asked, upstream, injection, secret);
        forward(send(target, asked.method ?? 'GET', headers), asked, response, secret);
      })
      .catch((error: unknown) => failWith(response, error));
  });
  server.once('close', () => void sender?.then((send) => send.close()));
  return { server, path };
}

/** TRACE is excluded: some servers answer it with the request's headers, and so with the secret. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const MAX_HEADER_BYTES = 32_768;
const MAX_CONNECTIONS = 256;
const KEEP_ALIVE_MS = 60_000;

function restOfPath(url: string, prefix: string): string | undefined {
  if (!url.startsWith(prefix)) return undefined;
  const rest = url.slice(prefix.length);
  return rest === '' || rest.startsWith('/') || rest.startsWith('?') ? rest : undefined;
}

/**
 * The path at the upstream; undefined if dots would leave its base path. Gemini clients may send a key in the query,
 * which is removed.
 */
export function upstreamPath(upstream: URL, rest: string, header: string): string | undefined {
  const base = upstream.pathname.replace(/\/$/, '');
  const url = URL.parse(`${upstream.origin}${base}${rest}`);
  if (url === null || url.origin !== upstream.origin) return undefined;
  if (url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return undefined;
  if (header.toLowerCase() === 'x-goog-api-key' && url.searchParams.has('key')) url.searchParams.delete('key');
  return `${url.pathname}${url.search}`;
}

/** Headers with the client's own credentials, which would conflict with the secret. */
const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'cookie', 'host'];

function requestHeaders(
  { headers }: IncomingMessage,
  upstream: URL,
  { header, prefix }: Injection,
  secret: string,
): OutgoingHttpHeaders {
  const name = header.toLowerCase();
  return { ...forwardedHeaders(headers, [...CREDENTIALS, name]), host: upstream.host, [name]: `${prefix}${secret}` };
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

function forward(
  sent: ReturnType<typeof request>,
  asked: IncomingMessage,
  response: ServerResponse,
  secret: string,
): void {
  sent.once('response', (answer) => {
    const headers = Object.entries(forwardedHeaders(answer.headers)).filter(
      ([, value]) => !String(value).includes(secret),
    );
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(headers));
    // The client waits for the status, and a stream's first bytes may come late.
    response.flushHeaders();
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  sent.once('error', (error) => failWith(response, error));
  response.once('close', () => sent.destroy());
  asked.pipe(sent);
}

function failWith(response: ServerResponse, error: unknown): void {
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
