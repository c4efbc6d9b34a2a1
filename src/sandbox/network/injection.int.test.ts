import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Injection } from '../../protocol/sandbox.ts';
import { createInjectionServer } from './injection.ts';
import { HostCounts } from './proxy/host-counts.ts';
import { closeHttp, serveAt } from './serve.ts';

const SECRET = 'sk-real-secret';
const open: Server[] = [];

afterEach(() => open.splice(0).forEach(closeHttp));

describe('the address of an injected secret', () => {
  it("adds the secret, and replaces the client's own credentials", async () => {
    const seen: IncomingMessage[] = [];
    const { ask } = await injecting((asked, response) => {
      seen.push(asked);
      asked.pipe(response);
    });
    const headers = { 'x-api-key': 'placeholder', authorization: 'Bearer x', cookie: 'a=b', 'anthropic-version': '1' };
    const answer = await ask('/v1/messages?beta=true', headers, 'question');
    expect(answer).toMatchObject({ statusCode: 200, text: 'question' });
    expect(seen[0]?.url).toBe('/base/v1/messages?beta=true');
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': SECRET, 'anthropic-version': '1' });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    expect(seen[0]?.headers).not.toHaveProperty('cookie');
  });

  it('streams a response piece by piece', async () => {
    let next = (): void => {};
    const { start } = await injecting((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      next = () => response.end('data: 2\n\n');
    });
    const answer = await start('/v1/stream');
    const [first] = await once(answer, 'data');
    expect(String(first)).toBe('data: 1\n\n');
    next();
    const [second] = await once(answer, 'data');
    expect(String(second)).toBe('data: 2\n\n');
  });

  it('drops response headers that repeat the secret', async () => {
    const { ask } = await injecting((asked, response) => {
      response.writeHead(200, { 'x-echo': `key=${String(asked.headers['x-api-key'])}`, 'x-other': '1' }).end();
    });
    const { headers } = await ask('/');
    expect(headers).toMatchObject({ 'x-other': '1' });
    expect(JSON.stringify(headers)).not.toContain(SECRET);
  });

  it.each([
    ['another path', '', '/v1/messages', {}, 404],
    ['a path that only begins alike', 'PATH', 'x/v1', {}, 404],
    ['dots that lead out', 'PATH', '/../admin', {}, 403],
    ['a WebSocket', 'PATH', '/v1', { connection: 'upgrade', upgrade: 'websocket' }, 501],
  ])('refuses %s', async (_, base, rest, headers, status) => {
    const { port, path, counts } = await injecting((__, response) => response.end('reached'));
    const answer = await send(port, `${base === '' ? '' : path}${rest}`, headers, '');
    expect(answer).toMatchObject({ statusCode: status, text: expect.stringContaining('"message":"baton: ') });
    expect(counts.list()).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:1/base', 'ECONNREFUSED'],
    ['https://127.0.0.1:1/base', 'ECONNREFUSED'],
  ])('says that %s cannot be reached, without the secret', async (upstream, code) => {
    const { ask, counts } = await injectingTo(upstream);
    const answer = await ask('/v1');
    expect(answer).toMatchObject({ statusCode: 502, text: expect.stringContaining(code) });
    expect(answer.text).not.toContain(SECRET);
    expect(counts.list()).toEqual([{ host: '127.0.0.1:1', allowed: 1, refused: 0 }]);
  });
});

async function injecting(answer: RequestListener) {
  const upstream = createServer(answer);
  open.push(upstream);
  return injectingTo(`http://127.0.0.1:${await serveAt(upstream, 'host')}/base`);
}

async function injectingTo(upstream: string) {
  const injection: Injection = { secret: 'KEY', upstream, header: 'X-Api-Key', prefix: '', env: {} };
  const counts = new HostCounts(() => {});
  const { server, path } = createInjectionServer(injection, SECRET, { counts, env: {} });
  open.push(server);
  const port = await serveAt(server, 'host');
  const ask = async (rest: string, headers = {}, body = '') => send(port, `${path}${rest}`, headers, body);
  const start = async (rest: string) => begin(port, `${path}${rest}`, {}, '');
  return { port, path, counts, ask, start };
}

async function send(port: number, path: string, headers: object, body: string) {
  const answer = await begin(port, path, headers, body);
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return { statusCode: answer.statusCode, headers: answer.headers, text };
}

async function begin(port: number, path: string, headers: object, body: string): Promise<IncomingMessage> {
  const asking = request({ host: '127.0.0.1', port, path, method: 'POST', headers: { ...headers }, agent: false });
  asking.end(body);
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  return answer;
}
