import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connectOut } from './connect-out.ts';
import { forwardedHeaders } from './forwarded-headers.ts';
import { type HostCounts, renderLocalRefusal, renderRefusal } from './host-counts.ts';
import { isListed, parseAuthority, renderTarget, type Target } from './host-rules.ts';
import { joinSockets } from './join-sockets.ts';
import { describeFailure, findRoute, isThisMachine, type OutboundRules } from './find-route.ts';
import { agentProxy } from './upstream-proxy.ts';

/**
 * The HTTP proxy of one session: tunnels (`CONNECT HOST:PORT`) and plain requests (`GET http://HOST/…`) to the hosts of
 * its policy. Bytes are piped, never buffered.
 */
export function createProxy(rules: OutboundRules, counts: HostCounts): Server {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, noDelay: true, headersTimeout: HEADERS_MS });
  const direct = new Agent({ keepAlive: true });
  // Uploads and streams have no time limit; the sockets close idle connections.
  server.requestTimeout = 0;
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS);
  server.on('connect', (asked, client, head) => void openTunnel(asked, client, head).catch(() => client.destroy()));
  server.on('request', (asked, response) => void forward(asked, response).catch(() => response.destroy()));
  server.once('close', () => direct.destroy());

  const check = (target: Target | undefined): Refusal | undefined => {
    if (target === undefined) return { status: 400, reason: 'this is not an address of a host with its port' };
    if (isListed(rules.hosts, target)) return undefined;
    if (isThisMachine(target)) return refuse(target, renderLocalRefusal(target, rules.forbiddenPorts));
    return refuse(target, renderRefusal(renderTarget(target), rules));
  };
  const refuse = (target: Target, note: string): Refusal => {
    counts.refuse(renderTarget(target), note);
    return { status: 403, reason: note };
  };
  const explain = (target: Target, isRefused: boolean, reason: string): Refusal =>
    isRefused
      ? refuse(target, `baton: the network policy refused ${renderTarget(target)}: ${reason}`)
      : { status: 502, reason: `baton: cannot reach ${renderTarget(target)}: ${reason}` };

  const openTunnel = async (asked: IncomingMessage, client: Duplex, head: Buffer): Promise<void> => {
    client.on('error', () => client.destroy());
    const target = parseAuthority(asked.url ?? '');
    const refused = check(target);
    if (target === undefined || refused !== undefined) return endTunnel(client, refused);
    const connected = await connectOut(target, rules);
    if (!connected.ok) return endTunnel(client, explain(target, connected.isRefused, connected.reason));
    counts.allow(renderTarget(target));
    const { socket } = connected;
    if (client.destroyed || !(client instanceof Socket)) return void socket.destroy();
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    if (head.length > 0) socket.write(head);
    joinSockets(client, socket, IDLE_MS);
  };

  const forward = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = parseHttpUrl(asked.url ?? '');
    const refused = check(url?.target);
    if (url === undefined || refused !== undefined) return endRequest(response, refused);
    const { target, path } = url;
    const route = await findRoute(target, rules, false);
    if (!route.ok) return endRequest(response, explain(target, route.isRefused, route.reason));
    if (response.destroyed) return;
    counts.allow(renderTarget(target));
    const sent = request({
      ...target,
      path,
      method: asked.method,
      // The address determines the host, not the client's header.
      headers: { ...forwardedHeaders(asked.headers), host: url.host },
      ...('lookup' in route
        ? { agent: direct, lookup: route.lookup }
        : { agent: new Agent(agentProxy(route.upstream)) }),
    });
    sent.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, forwardedHeaders(answer.headers));
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    sent.once('error', (error) => {
      if (response.headersSent) response.destroy();
      else endRequest(response, explain(target, false, describeFailure(error)));
    });
    response.once('close', () => sent.destroy());
    asked.pipe(sent);
  };
  return server;
}

interface Refusal {
  readonly status: 400 | 403 | 502;
  readonly reason: string;
}

const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 256;
const HEADERS_MS = 30_000;
const IDLE_MS = 15 * 60_000;

/** Parses the form that a client sends to a proxy: the whole address, without a user name. */
function parseHttpUrl(text: string): { target: Target; host: string; path: string } | undefined {
  const [, host, path = ''] = /^http:\/\/([^/?#]+)([/?][^#\s]*)?$/i.exec(text) ?? [];
  const target = host === undefined ? undefined : parseAuthority(host, 80);
  if (target === undefined || host === undefined) return undefined;
  return { target, host, path: path.startsWith('/') ? path : `/${path}` };
}

const STATUS_TEXTS = { 400: 'Bad Request', 403: "Refused by Baton's network policy", 502: 'Host unreachable' } as const;

/** Many clients show only the status line of a refused tunnel, so it contains the reason. */
function endTunnel(client: Duplex, { status, reason }: Refusal = BAD): void {
  const text = `${reason}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status]}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  client.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

function endRequest(response: ServerResponse, { status, reason }: Refusal = BAD): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${reason}\n`);
}

const BAD: Refusal = { status: 400, reason: "baton: this is Baton's proxy: send CONNECT HOST:PORT or http://HOST/…" };
