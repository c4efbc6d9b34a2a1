import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Notification } from './channel.ts';
import { parseRetryAfter, webhookChannel } from './webhook.ts';

const SECRET = 'T000/B000/XXXX-secret';
const quick = { timeoutMs: 2000, backoffMs: 5, giveUpMs: 5000 };
const notification: Notification = {
  id: '01KAAAAAAAAAAAAAAAAAAAAAAA',
  kind: 'attention',
  title: 'Pipeline needs attention: ship',
  message: 'Agent tried to stop without signaling completion <!channel> \u001B[31m& more',
};

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A receiver that sends each given answer once, and then 200. */
async function receiver(...answers: ((response: ServerResponse) => void)[]) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      heard.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      const answer = answers.shift() ?? ((to) => to.end('ok'));
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { heard, host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/services/${SECRET}` };
}

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end();

describe('a webhook', () => {
  it('receives one POST with a Slack text, and an id that identifies repeats', async () => {
    const { heard, url } = await receiver();
    expect(await webhookChannel(url, quick).send({ ...notification, url: 'http://localhost:1/d/2' })).toEqual({
      ok: true,
    });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({
      method: 'POST',
      url: `/services/${SECRET}`,
      headers: {
        'content-type': 'application/json',
        'baton-notification-id': notification.id,
        'baton-notification-kind': 'attention',
      },
    });
    expect(JSON.parse(heard[0]?.body ?? '')).toEqual({
      text:
        '*Pipeline needs attention: ship*\n' +
        'Agent tried to stop without signaling completion &lt;!channel&gt; &amp; more\nhttp://localhost:1/d/2',
    });
  });

  it('retries if the receiver fails or is busy, with the same id', async () => {
    const { heard, url } = await receiver(status(500), status(429), status(503), (response) => response.destroy());
    expect(await webhookChannel(url, quick).send(notification)).toEqual({ ok: true });
    expect(heard.map(({ headers }) => headers['baton-notification-id'])).toEqual(Array(5).fill(notification.id));
  });

  it('waits as long as Retry-After asks', async () => {
    const { heard, url } = await receiver(status(429, { 'retry-after': '1' }));
    const from = performance.now();
    expect(await webhookChannel(url, quick).send(notification)).toEqual({ ok: true });
    // A timer may fire a millisecond early.
    expect(performance.now() - from).toBeGreaterThan(990);
    expect(heard).toHaveLength(2);
  });

  it('gives up at once if it would have to wait too long', async () => {
    const { heard, url, host } = await receiver(status(503, { 'retry-after': '3600' }));
    expect(await webhookChannel(url, quick).send(notification)).toEqual({
      ok: false,
      reason: `${host} answered 503`,
    });
    expect(heard).toHaveLength(1);
  });

  it('does not retry a refused request', async () => {
    const { heard, url, host } = await receiver(status(404));
    expect(await webhookChannel(url, quick).send(notification)).toEqual({
      ok: false,
      reason: `${host} answered 404`,
    });
    expect(heard).toHaveLength(1);
  });

  it('follows no redirect, so that no other host receives anything', async () => {
    const other = await receiver();
    const { url, host } = await receiver(status(307, { location: other.url }));
    expect(await webhookChannel(url, quick).send(notification)).toEqual({
      ok: false,
      reason: `${host} answered 307 (redirects are not followed)`,
    });
    expect(other.heard).toEqual([]);
  });

  it('gives up on a receiver that does not answer', async () => {
    const { heard, url, host } = await receiver(...Array(100).fill(() => undefined));
    const sent = await webhookChannel(url, { timeoutMs: 50, backoffMs: 5, giveUpMs: 600 }).send(notification);
    expect(sent).toEqual({ ok: false, reason: `${host}: no answer within 50 ms` });
    expect(heard.length).toBeGreaterThan(1);
  });

  it('reports an unreachable host without the secret in the address', async () => {
    const host = await closedPort();
    const address = `http://user:pass@${host}/${SECRET}?token=${SECRET}`;
    const sent = await webhookChannel(address, { ...quick, giveUpMs: 20 }).send(notification);
    expect(sent).toEqual({ ok: false, reason: `${host}: ECONNREFUSED` });
  });

  it('sends a login in the address as a header', async () => {
    const { heard, host } = await receiver();
    await webhookChannel(`http://ada:p%40ss%@${host}/hook`, quick).send(notification);
    expect(heard[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:p@ss%').toString('base64')}`);
  });

  it.each(['', 'nonsense', 'file:///etc/passwd', 'ftp://example.com'])('refuses the address %j', async (address) => {
    const sent = await webhookChannel(address, quick).send(notification);
    expect(sent).toEqual({ ok: false, reason: 'the address of the webhook is not an http or https address' });
  });
});

it.each([
  [null, undefined],
  ['7', 7000],
  [' 0 ', 0],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 50_000],
  ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ['soon', undefined],
])('Retry-After: %s is %s ms', (header, ms) => {
  expect(parseRetryAfter(header, 10_000)).toBe(ms);
});
