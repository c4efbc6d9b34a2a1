import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Environment } from '../../../protocol/environment.ts';
import { HostCounts } from './host-counts.ts';
import type { HostRules } from './host-rules.ts';
import { createProxy } from './proxy.ts';

/** A server of this machine that the policy does not open, such as the daemon. */
let hidden: Server;
/** A server that the policy opens by its literal name and port. */
let origin: Server;
const open: (Server | TcpServer)[] = [];

beforeAll(async () => {
  hidden = await listening(createServer((_, response) => response.end('the daemon')));
  origin = await listening(
    createServer((asked, response) => {
      response.setHeader('x-host', asked.headers.host ?? '');
      response.setHeader('x-seen', JSON.stringify(asked.headers));
      asked.pipe(response.writeHead(200, { 'keep-alive': 'timeout=99', 'x-path': asked.url ?? '' }));
    }),
  );
});

afterAll(() => {
  for (const server of open) {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  }
});

describe('the proxy of a session', () => {
  it('opens a tunnel to a listed host, and counts it', async () => {
    const { port, counts } = await proxyFor([`127.0.0.1:${portOf(origin)}`]);
    const answer = await tunnel(
      port,
      `127.0.0.1:${portOf(origin)}`,
      'GET /x HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 Connection Established\r\n\r\nHTTP\/1\.1 200 OK/);
    expect(counts.list()).toEqual([{ host: `127.0.0.1:${portOf(origin)}`, allowed: 1, refused: 0 }]);
  });

  it('forwards plain requests with their bodies, and drops the headers of the connection', async () => {
    const { port } = await proxyFor([`localhost:${portOf(origin)}`]);
    const headers = { 'proxy-authorization': 'x', connection: 'keep-alive, x-hop', 'x-hop': '1', 'x-kept': '1' };
    const answer = await plain(port, `http://localhost:${portOf(origin)}/a?b=1`, headers, 'hello');
    expect(answer).toMatchObject({ status: 200, body: 'hello' });
    expect(answer.headers).toMatchObject({ 'x-path': '/a?b=1', 'x-host': `localhost:${portOf(origin)}` });
    const seen: unknown = JSON.parse(String(answer.headers['x-seen']));
    expect(seen).toMatchObject({ 'x-kept': '1' });
    expect(seen).not.toHaveProperty('x-hop');
    expect(seen).not.toHaveProperty('proxy-authorization');
    expect(answer.headers['keep-alive']).not.toBe('timeout=99');
  });

  it.each([
    ['localhost'],
    ['LOCALHOST'],
    ['localhost.'],
    ['127.0.0.1'],
    ['127.1'],
    ['0x7f000001'],
    ['2130706433'],
    ['0.0.0.0'],
    ['[::1]'],
    ['[::]'],
    ['[::ffff:127.0.0.1]'],
    ['[::ffff:7f00:1]'],
  ])('does not reach this machine as %s, even with all hosts allowed', async (host) => {
    const { port } = await proxyFor('all');
    expect(await tunnel(port, `${host}:${portOf(hidden)}`, '')).toMatch(/^HTTP\/1\.1 (?:403|502) /);
    const answer = await plain(port, `http://${host}:${portOf(hidden)}/`);
    expect([403, 502]).toContain(answer.status);
    expect(answer.body).not.toContain('the daemon');
  });

  it.each(['user@127.0.0.1:80', '127.0.0.1:0', '127.0.0.1', 'a b:80', '/', 'https://127.0.0.1:80'])(
    'refuses the tunnel %j as unreadable',
    async (authority) => {
      const { port } = await proxyFor('all');
      expect(await tunnel(port, authority, '')).toMatch(/^HTTP\/1\.1 400 /);
    },
  );

  it('never opens a forbidden port, even if it is listed', async () => {
    const { port, notes } = await proxyFor([`127.0.0.1:${portOf(hidden)}`], [portOf(hidden)]);
    expect(await tunnel(port, `127.0.0.1:${portOf(hidden)}`, '')).toMatch(/^HTTP\/1\.1 403 /);
    expect(notes).toEqual([
      `baton: the network policy refused 127.0.0.1:${portOf(hidden)}: an address of this machine`,
    ]);
  });

  it('refuses a host that is not listed, and names it once with the line that allows it', async () => {
    const { port, notes, counts } = await proxyFor(['api.example']);
    const refused = await tunnel(port, 'evil.example:443', '');
    expect(refused).toMatch(/^HTTP\/1\.1 403 Refused by Baton's network policy\r\n/);
    expect((await plain(port, 'http://evil.example/')).status).toBe(403);
    expect(notes).toEqual([expect.stringContaining('network = ["api.example", "evil.example"]')]);
    expect(counts.list()).toEqual([{ host: 'evil.example', allowed: 0, refused: 2 }]);
  });

  it('uses the address if the Host header disagrees', async () => {
    const own = `127.0.0.1:${portOf(origin)}`;
    const { port } = await proxyFor([own]);
    const answer = await plain(port, `http://${own}/`, { host: 'evil.example' });
    expect(answer.headers['x-host']).toBe(own);
    const other = await plain(port, `http://127.0.0.1:${portOf(hidden)}/`, { host: own });
    expect(other.status).toBe(403);
  });

  it.each([
    ['two lengths', 'POST http://HOST/ HTTP/1.1\r\nhost: HOST\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello'],
    [
      'a length and chunks',
      'POST http://HOST/ HTTP/1.1\r\nhost: HOST\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a user name', 'GET http://user:pass@HOST/ HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n'],
    ['no address', 'GET / HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n'],
    ['another scheme', 'GET ftp://HOST/ HTTP/1.1\r\nhost: HOST\r\nconnection: close\r\n\r\n'],
  ])('answers a request with %s by 400', async (_, text) => {
    const own = `127.0.0.1:${portOf(origin)}`;
    const { port } = await proxyFor([own]);
    expect(await exchange(port, text.replaceAll('HOST', own))).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('limits the size of headers', async () => {
    const { port } = await proxyFor('all');
    const head = `CONNECT a.test:443 HTTP/1.1\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await exchange(port, head)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('uses the proxy of the machine, and does not lead it to this machine', async () => {
    const asked: string[] = [];
    const upstream = createServer((plainRequest, response) => {
      asked.push(`${plainRequest.method} ${plainRequest.url}`);
      response.end('from upstream');
    });
    upstream.on('connect', (tunnelRequest, socket) => {
      asked.push(`CONNECT ${tunnelRequest.url} ${tunnelRequest.headers['proxy-authorization']}`);
      socket.end('HTTP/1.1 200 OK\r\n\r\nhello from afar');
    });
    await listening(upstream);
    const address = `http://me:pw@127.0.0.1:${portOf(upstream)}`;
    const { port } = await proxyFor(['127.0.0.1:99', '127.1', 'localhost'], [], {
      HTTP_PROXY: address,
      HTTPS_PROXY: address,
    });
    expect(await tunnel(port, '127.0.0.1:99', '')).toContain('hello from afar');
    expect((await plain(port, 'http://127.0.0.1:99/x')).body).toBe('from upstream');
    for (const host of ['localhost', '127.1'])
      expect(await tunnel(port, `${host}:443`, '')).toMatch(/^HTTP\/1\.1 403 /);
    expect(asked).toEqual([
      `CONNECT 127.0.0.1:99 Basic ${Buffer.from('me:pw').toString('base64')}`,
      'POST http://127.0.0.1:99/x',
    ]);
  });

  it('passes a half-closed connection on, without losing what the other side still sends', async () => {
    const late = createTcpServer({ allowHalfOpen: true }, (socket) => {
      socket.resume();
      socket.on('end', () => socket.end('x'.repeat(3_000_000)));
    });
    await listening(late);
    const own = `127.0.0.1:${portOf(late)}`;
    const { port } = await proxyFor([own]);
    const answer = await tunnel(port, own, 'question');
    expect(answer.length).toBeGreaterThan(3_000_000);
  });
});

async function proxyFor(hosts: HostRules, forbiddenPorts: readonly number[] = [], env: Environment = {}) {
  const notes: string[] = [];
  const counts = new HostCounts((line) => notes.push(line));
  const proxy = await listening(createProxy({ hosts, forbiddenPorts, env }, counts));
  return { port: portOf(proxy), notes, counts };
}

async function listening<T extends Server | TcpServer>(server: T): Promise<T> {
  open.push(server);
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  return server;
}

function portOf(server: Server | TcpServer): number {
  return (server.address() as AddressInfo).port;
}

async function tunnel(port: number, authority: string, text: string): Promise<string> {
  return exchange(port, `CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n${text}`);
}

/** Sends text, and returns everything that arrives after this side has closed. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
  socket.on('error', () => {});
  socket.end(text);
  await once(socket, 'close');
  return answer;
}

async function plain(port: number, path: string, headers = {}, body = '') {
  const asking = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false });
  asking.end(body);
  const [answer] = await once(asking, 'response');
  answer.setEncoding('utf8');
  let text = '';
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode as number, headers: answer.headers as Record<string, unknown>, body: text };
}
