import { describe, expect, it } from 'vitest';
import { type Fields } from '../protocol/shape/read-unknown.ts';
import { isGone, methodNotFound, RPC, RpcConnection, type RpcError } from './connection.ts';

/** Opens a connection whose other side is the test. */
function open(
  onRequest: (method: string, params: Fields, signal: AbortSignal) => Promise<object | null> = refuse,
  onNotification = (_method: string, _params: Fields): void => {},
) {
  const sent: Fields[] = [];
  const notified: string[] = [];
  const invalid: (string | null)[] = [];
  const connection = new RpcConnection({
    write: (line) => void sent.push(JSON.parse(line) as Fields), // oxlint-disable-line typescript/no-unsafe-type-assertion
    onRequest,
    onNotification: (method, params) => {
      onNotification(method, params);
      notified.push(method);
    },
    onInvalid: (line) => void invalid.push(line),
  });
  const receive = (message: unknown): void => push(JSON.stringify(message));
  const push = (text: string): void => connection.push(Buffer.from(`${text}\n`));
  return { connection, sent, notified, invalid, receive, push };
}

async function refuse(method: string): Promise<never> {
  throw methodNotFound(method);
}

function nestingOf(value: unknown): number {
  return 1 + Math.max(0, ...Object.values(Object(value)).map(nestingOf));
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}

describe('a connection', () => {
  it('resolves a request with the result, and rejects it with the error of the other side', async () => {
    const { connection, sent, receive } = open();
    const [first, second] = [connection.request('a', { x: 1 }), connection.request('b', {})];
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'a', params: { x: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'b', params: {} },
    ]);
    receive({ jsonrpc: '2.0', id: 2, error: { code: -32_000, message: 'log in', data: { why: 'key' } } });
    receive({ jsonrpc: '2.0', id: 1, result: 7 });
    expect(await first).toBe(7);
    await expect(second).rejects.toMatchObject({ code: -32_000, message: 'log in', data: { why: 'key' } });
  });

  it('withdraws a request, and ignores a later answer', async () => {
    const { connection, sent, receive, invalid } = open();
    const controller = new AbortController();
    const asked = connection.request('ask', {}, controller.signal);
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: RPC.cancelled });
    expect(sent.at(-1)).toEqual({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 1 } });
    receive({ jsonrpc: '2.0', id: 1, result: 'late' });
    expect(invalid).toHaveLength(1);
    await expect(connection.request('ask', {}, controller.signal)).rejects.toMatchObject({ code: RPC.cancelled });
  });

  it('answers requests, refuses unknown methods, and delivers notifications in order', async () => {
    const { sent, receive, notified } = open(async (method) => {
      if (method !== 'known') throw methodNotFound(method);
      return { ok: true };
    });
    receive({ jsonrpc: '2.0', id: 'x', method: 'known' });
    receive({ jsonrpc: '2.0', method: 'one' });
    receive({ jsonrpc: '2.0', id: 4, method: 'unknown', params: {} });
    receive({ jsonrpc: '2.0', method: 'two' });
    await settled();
    expect(sent).toContainEqual({ jsonrpc: '2.0', id: 'x', result: { ok: true } });
    expect(sent).toContainEqual(expect.objectContaining({ id: 4, error: expect.objectContaining({ code: -32_601 }) }));
    expect(notified).toEqual(['one', 'two']);
  });

  it('hides the error inside a handler', async () => {
    const { sent, receive } = open(async () => {
      throw new Error('a path of this machine');
    });
    receive({ jsonrpc: '2.0', id: 1, method: 'x' });
    await settled();
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: RPC.internalError, message: 'internal error' } }]);
  });

  it.each([
    ['text', 'Welcome to the agent!', 0],
    ['a list', '[1,2]', 1],
    ['a number', '7', 1],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"x"}', 1],
    ['a response that nobody waits for', '{"jsonrpc":"2.0","id":99,"result":1}', 0],
    ['a response without a result', '{"jsonrpc":"2.0","id":1}', 0],
  ])('reports %s as invalid and stays open', async (_, line, answers) => {
    const { connection, sent, invalid, push, receive } = open();
    push(line);
    expect(invalid).toEqual([line]);
    expect(sent).toHaveLength(answers);
    const asked = connection.request('a', {});
    receive({ jsonrpc: '2.0', id: 1, result: 'fine' });
    expect(await asked).toBe('fine');
  });

  it('survives a message that its parser cannot follow', () => {
    const { notified, invalid, push, receive } = open(refuse, (_, params) => void nestingOf(params));
    push(`{"jsonrpc":"2.0","method":"deep","params":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`);
    receive({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: { toString: 1, valueOf: 1 } } });
    receive({ jsonrpc: '2.0', method: 'next' });
    expect(invalid).toHaveLength(2);
    expect(notified).toEqual(['next']);
  });

  it('refuses params that are not an object, and an id that is in use', async () => {
    const { sent, receive } = open(async () => new Promise(() => {}));
    receive({ jsonrpc: '2.0', id: 1, method: 'x', params: [1] });
    receive({ jsonrpc: '2.0', id: 2, method: 'x' });
    receive({ jsonrpc: '2.0', id: 2, method: 'x' });
    await settled();
    expect(sent.map(({ error }) => (error as RpcError).code)).toEqual([RPC.invalidParams, RPC.invalidRequest]); // oxlint-disable-line typescript/no-unsafe-type-assertion
  });

  it('bounds the requests that run at once', async () => {
    const { sent, receive } = open(async () => new Promise(() => {}));
    for (let id = 1; id <= 100; id += 1) receive({ jsonrpc: '2.0', id, method: 'x' });
    await settled();
    expect(sent).toHaveLength(36);
  });

  it('drops a line that is too long, and reads the next one', () => {
    const { connection, invalid, notified, receive } = open();
    for (let mib = 0; mib < 17; mib += 1) connection.push(Buffer.alloc(1024 * 1024, 'x'));
    connection.push(Buffer.from('\n'));
    receive({ jsonrpc: '2.0', method: 'next' });
    expect(invalid).toEqual([null]);
    expect(notified).toEqual(['next']);
  });

  it('reads characters that are split across two chunks', async () => {
    const { connection, notified } = open();
    const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'grüße' })}\n`);
    for (const byte of line) connection.push(Buffer.from([byte]));
    expect(notified).toEqual(['grüße']);
  });

  it('aborts a request that the other side withdraws', async () => {
    let seen: AbortSignal | undefined;
    const { receive } = open(async (_method, _params, signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    receive({ jsonrpc: '2.0', id: 5, method: 'x' });
    expect(seen?.aborted).toBe(false);
    receive({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 5 } });
    expect(seen?.aborted).toBe(true);
  });

  it('rejects pending requests when it is closed, and sends nothing more', async () => {
    const { connection, sent, receive } = open(async () => ({}));
    const asked = connection.request('a', {});
    connection.close();
    await expect(asked).rejects.toSatisfy(isGone);
    await expect(connection.request('b', {})).rejects.toSatisfy(isGone);
    connection.notify('c', {});
    receive({ jsonrpc: '2.0', id: 1, method: 'x' });
    await settled();
    expect(sent).toHaveLength(1);
  });
});
