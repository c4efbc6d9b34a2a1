import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { UNKNOWN_MODELS } from '../../protocol/price.ts';
import type { Injection } from '../../protocol/sandbox.ts';
import { createInjectionServer } from './injection.ts';
import { meterAnswer } from './meter/meter-answer.ts';
import type { MeteredRequest, RequestMeter, TokenUse } from './meter/request-meter.ts';
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
    const answer = await ask('/v1/messages?beta=true&fields=id&callback=x', headers, 'question');
    expect(answer).toMatchObject({ statusCode: 200, text: 'question' });
    expect(seen[0]?.url).toBe('/base/v1/messages?beta=true');
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': SECRET, 'anthropic-version': '1' });
    expect(seen[0]?.headers).not.toHaveProperty('authorization');
    expect(seen[0]?.headers).not.toHaveProperty('cookie');
  });

  it('forwards no header that changes the method, leaves out the usage, or encodes the answer', async () => {
    const seen: IncomingMessage[] = [];
    const { ask } = await injecting((asked, response) => {
      seen.push(asked);
      response.end('{}');
    });
    const names = ['x-http-method-override', 'x-goog-fieldmask', 'accept-encoding'];
    await ask('/v1/messages', Object.fromEntries(names.map((name) => [name, 'gzip'])));
    expect(names.map((name) => seen[0]?.headers[name])).toEqual([undefined, undefined, 'identity']);
  });

  it('streams a response piece by piece', async () => {
    let next = (): void => {};
    const { start } = await injecting((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      next = () => response.end('data: 2\n\n');
    });
    const answer = await start('/v1/messages');
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
    const { headers } = await ask('/v1/messages');
    expect(headers).toMatchObject({ 'x-other': '1' });
    expect(JSON.stringify(headers)).not.toContain(SECRET);
  });

  it.each([
    ['another path', '', '/v1/messages', {}, 404],
    ['a path that only begins alike', 'PATH', 'x/v1', {}, 404],
    ['dots that lead out', 'PATH', '/../admin', {}, 403],
    ['encoded dots that lead out', 'PATH', '/v1/%2e%2e/%2E./admin', {}, 403],
    ['a WebSocket', 'PATH', '/v1/messages', { connection: 'upgrade', upgrade: 'websocket' }, 501],
    ['an address instead of a path', '', 'http://api.example/v1/messages', {}, 404],
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
    const answer = await ask('/v1/messages');
    expect(answer).toMatchObject({ statusCode: 502, text: expect.stringContaining(code) });
    expect(answer.text).not.toContain(SECRET);
    expect(counts.list()).toEqual([{ host: '127.0.0.1:1', allowed: 1, refused: 0 }]);
  });
});

const USAGE = { model: 'm', usage: { input_tokens: 90, output_tokens: 10 } };
const EVENTS = `data: ${JSON.stringify({ type: 'message_start', message: USAGE })}\n\n`;

describe('a request with an injected secret', () => {
  it('is counted from its answer, also if that is encoded', async () => {
    const body = JSON.stringify(USAGE);
    const encodings = {
      identity: (text: string) => Buffer.from(text),
      gzip: gzipSync,
      br: brotliCompressSync,
      zstd: zstdCompressSync,
    };
    const names = Object.keys(encodings);
    const left = Object.entries(encodings);
    const { ask, used } = await injecting((asked, response) => {
      asked.resume();
      const [name, encode] = left.shift() ?? ['identity', (text: string) => text];
      response.writeHead(200, { 'content-encoding': name }).end(encode(body));
    });
    for (const _ of names) await ask('/v1/messages', {}, 'question');
    await expect.poll(() => used).toEqual(names.map(() => ({ model: 'm', input: 90, output: 10, cached: 0 })));
  });

  it('is counted by a bound if its encoding is unknown', async () => {
    const { ask, used } = await injecting((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip, br' }).end('x'.repeat(50)),
    );
    await ask('/v1/messages', {}, 'q'.repeat(30));
    expect(used).toMatchObject([{ input: 10, output: 50 }]);
  });

  it.each([
    ['an empty answer', (response: ServerResponse) => response.end(), isBound, 'asked'],
    [
      'an answer with trailers',
      (response: ServerResponse) => endWithTrailers(response, JSON.stringify(USAGE)),
      is(10),
      'm',
    ],
    ['a redirect', (response: ServerResponse) => response.writeHead(307, { location: '/other' }).end(), is(0), null],
    ['a refusal', (response: ServerResponse) => response.writeHead(400).end(JSON.stringify(USAGE)), is(0), null],
    ['a timeout of a gateway', (response: ServerResponse) => response.writeHead(504).end(), isBound, 'asked'],
    [
      'an encoded answer that is cut',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(USAGE)).subarray(0, -12)),
      isBound,
      'asked',
    ],
  ])('is counted for %s', async (_, answer, isExpected, model) => {
    const { ask, used } = await injecting((asked, response) => {
      asked.resume();
      asked.once('end', () => answer(response));
    });
    await ask('/v1/messages', {}, JSON.stringify({ model: 'asked', messages: 'q'.repeat(300) }));
    await expect.poll(() => used).toHaveLength(1);
    expect(used[0]?.output).toSatisfy(isExpected);
    expect(used[0]?.model).toBe(model);
  });

  it('is priced as an unknown model if nobody names its model, and by the path where that names it', async () => {
    const { ask, used } = await injecting((asked, response) => {
      asked.resume();
      asked.once('end', () => response.end());
    });
    await ask('/v1/messages');
    await ask('/v1/messages', {}, '{"model":"a","model":"b"}');
    await expect.poll(() => used.map(({ model }) => model)).toEqual(Array(2).fill(UNKNOWN_MODELS.anthropic));
    const settled: TokenUse[] = [];
    const path = '/v1beta/models/gemini-x:generateContent';
    meterAnswer({ api: 'gemini', path, input: 1 }, (one) => settled.push(one)).cut();
    const sent = meterAnswer({ api: 'gemini', path, input: 1 }, (one) => settled.push(one));
    sent.connected();
    sent.cut();
    expect(settled).toMatchObject([{ input: 0 }, { model: 'gemini-x', input: 1 }]);
  });

  it('that Baton cannot count is refused before the API has all of it, and the log names it once', async () => {
    const arrived: string[] = [];
    const { ask, lines, used, counts } = await injecting((asked, response) => {
      asked.on('data', () => {});
      asked.once('end', () => {
        arrived.push(asked.url ?? '');
        response.end(JSON.stringify(USAGE));
      });
      asked.once('error', () => {});
    });
    const background = JSON.stringify({ model: 'm', input: 'x'.repeat(200_000), background: true });
    for (const body of [background, '{"background":true}']) {
      const answer = await ask('/v1/messages', {}, body);
      expect(answer).toMatchObject({ statusCode: 403, text: expect.stringContaining('"type":"body_refused"') });
    }
    const encoded = await ask('/v1/messages', { 'content-encoding': 'gzip' }, 'x');
    expect(encoded).toMatchObject({ statusCode: 403, text: expect.stringContaining('encoded') });
    expect((await ask('/v1/messages', {}, '{"background":false}')).statusCode).toBe(200);
    expect(arrived).toHaveLength(1);
    expect(used.map(({ output }) => output)).toEqual([0, 0, 10]);
    expect(lines).toEqual([expect.stringContaining('in the background'), expect.stringContaining('encoded')]);
    expect(counts.list()).toMatchObject([{ refused: 3 }]);
  });

  it('is counted if the client cuts the stream before the usage', async () => {
    const { start, used } = await injecting((_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(EVENTS),
    );
    const answer = await start('/v1/messages');
    await once(answer, 'data');
    answer.destroy();
    await expect.poll(() => used).toMatchObject([{ model: 'm', input: 90, output: expect.any(Number) }]);
  });

  it('is counted if the client leaves before the answer, and not if the API refuses it or is away', async () => {
    let arrived = Promise.withResolvers<void>();
    const { port, path, used } = await injecting((asked, response) => {
      if (asked.headers['x-fail'] === undefined) return arrived.resolve();
      response.writeHead(529).end('{"type":"error","error":{"type":"overloaded_error"}}');
    });
    await send(port, `${path}/v1/messages`, { 'x-fail': '1' }, 'q');
    expect(used).toMatchObject([{ input: 0, output: 0 }]);
    const leaving = request({ host: '127.0.0.1', port, path: `${path}/v1/messages`, method: 'POST', agent: false });
    leaving.on('error', () => {});
    leaving.end('q'.repeat(300));
    await arrived.promise;
    leaving.destroy();
    await expect.poll(() => used.slice(1)).toMatchObject([{ input: 100, output: expect.any(Number) }]);
    arrived = Promise.withResolvers();
    const away = await injectingTo('http://127.0.0.1:1/base');
    await away.ask('/v1/messages', {}, 'q'.repeat(300));
    expect(away.used).toMatchObject([{ input: 0, output: 0 }]);
  });

  it('is refused once a budget is used up, and nothing reaches the API', async () => {
    const { ask, meter, counts, used } = await injecting((_, response) => response.end(JSON.stringify(USAGE)));
    await ask('/v1/messages');
    meter.refusal = 'a budget is used up';
    const answer = await ask('/v1/messages');
    expect(answer).toMatchObject({ statusCode: 402, text: expect.stringContaining('baton: a budget is used up') });
    expect(answer.headers['x-should-retry']).toBe('false');
    expect((await ask('/v1/messages/count_tokens')).statusCode).toBe(200);
    expect([used.length, counts.list()[0]?.allowed]).toEqual([1, 2]);
  });

  it('for another path is refused, and the log names the path once with the line that allows it', async () => {
    const { ask, counts, lines } = await injecting((_, response) => response.end('reached'));
    for (const path of ['/v1/organizations/users?limit=1', '//v1/messages', '/v1/organizations/users']) {
      const answer = await ask(path);
      expect(answer).toMatchObject({ statusCode: 403, text: expect.stringContaining('"type":"path_refused"') });
    }
    expect(lines).toEqual([
      'baton: the key KEY is not used for POST /v1/organizations/users. To allow it, write in the runbook, in [secrets], for KEY: paths = ["POST /v1/organizations/users"]',
      'baton: the key KEY is not used for POST //v1/messages. To allow it, write in the runbook, in [secrets], for KEY: paths = ["POST //v1/messages"]',
    ]);
    expect(counts.list()).toMatchObject([{ allowed: 0, refused: 3 }]);
  });

  it('is not pipelined behind another one, whose client may never read the answers', async () => {
    const { port, path, used } = await injecting((asked, response) => {
      asked.resume();
      asked.once('end', () => setImmediate(() => response.end(JSON.stringify(USAGE))));
    });
    const socket = connect(port, '127.0.0.1');
    const head = `POST ${path}/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n\r\nq`;
    socket.write(head.repeat(5));
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text.match(/HTTP\/1\.1 \d+/g)?.slice(0, 2)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503']);
    expect(used).toHaveLength(1);
  });

  it('is settled when its process has ended', async () => {
    const { start, used, meter } = await injecting((_, response) => response.writeHead(200).write(EVENTS));
    const answer = await start('/v1/messages');
    await once(answer, 'data');
    for (const each of meter.open) each.abandon();
    expect(used).toMatchObject([{ input: 90 }]);
    await expect(once(answer, 'end')).rejects.toThrow('aborted');
    expect(used).toHaveLength(1);
  });
});

const is = (wanted: number) => (output: number) => output === wanted;
const isBound = (output: number): boolean => output > 0;

function endWithTrailers(response: ServerResponse, body: string): void {
  response.writeHead(200, { trailer: 'x-usage' });
  response.write(body.slice(0, 9));
  response.addTrailers({ 'x-usage': '0' });
  response.end(body.slice(9));
}

/** Admits everything until `refusal` is set. */
class MeterStandIn implements RequestMeter {
  readonly used: TokenUse[] = [];
  readonly open: MeteredRequest[] = [];
  refusal: string | undefined;

  async admit(asked: MeteredRequest): ReturnType<RequestMeter['admit']> {
    if (this.refusal !== undefined) return { ok: false, reason: this.refusal };
    this.open.push(asked);
    return { ok: true, settle: (used) => void this.used.push(used) };
  }
}

async function injecting(answer: RequestListener) {
  const upstream = createServer(answer);
  open.push(upstream);
  return injectingTo(`http://127.0.0.1:${await serveAt(upstream, 'host')}/base`);
}

async function injectingTo(upstream: string) {
  const own = { secret: 'KEY', upstream, header: 'X-Api-Key', prefix: '', env: {} };
  const injection: Injection = { ...own, api: 'anthropic', paths: [] };
  const lines: string[] = [];
  const counts = new HostCounts((line) => lines.push(line));
  const meter = new MeterStandIn();
  const { server, path } = createInjectionServer(injection, SECRET, { counts, env: {}, meter });
  open.push(server);
  const port = await serveAt(server, 'host');
  const ask = async (rest: string, headers = {}, body = '') => send(port, `${path}${rest}`, headers, body);
  const start = async (rest: string) => begin(port, `${path}${rest}`, {}, '');
  return { port, path, counts, lines, meter, used: meter.used, ask, start };
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
