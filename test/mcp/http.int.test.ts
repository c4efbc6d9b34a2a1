import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { say } from './connect.ts';
import { recordOf } from './open-stdio.ts';
import { startRealDaemon, type RealDaemon } from './real-daemon.ts';

let daemon: RealDaemon;

beforeAll(async () => {
  daemon = await startRealDaemon();
});
afterAll(async () => daemon[Symbol.asyncDispose]());

const ERAS = [
  { era: 'sessions (2025)', mode: 'legacy' },
  { era: 'no sessions (2026-07-28)', mode: { pin: '2026-07-28' } },
] as const;

describe.each(ERAS)('over HTTP with $era', ({ mode }) => {
  const id = (name: string): string => `${name}-${typeof mode}`;

  it('an agent takes a task, works on it and writes back', async () => {
    await daemon.asOperator('task_create', { task_id: id('A'), title: 'One' });
    const client = await open({ mode });
    const claim = await say(client, 'task_claim', { task_id: id('A'), as: 'agent' });
    expect(claim.result).toMatchObject({ epoch: 1 });
    // Without sessions, the token names the claim.
    const token = mode === 'legacy' ? {} : { token: claim.result['token'] };
    const update = { task_id: id('A'), status: 'done', ...token };
    expect((await say(client, 'task_update', update)).text).toBe(
      'Writeback required: thought_record must be recorded before task completion.',
    );
    expect(await say(client, 'thought_record', { ...recordOf(id('A'), daemon.commit), ...token })).toMatchObject({
      isError: false,
    });
    expect(await say(client, 'task_update', update)).toMatchObject({ isError: false });
    await client.close();
  });

  it('a wait is woken, and can be cancelled', async () => {
    const client = await open({ mode });
    const stop = new AbortController();
    // Nothing makes this task claimable, so it does not matter when the daemon learns of the end of the wait.
    const call = { name: 'task_claim', arguments: { task_id: id('C'), as: 'x', wait_ms: 600_000 } };
    await daemon.asOperator('task_create', { task_id: id('first'), title: 'Before' });
    await daemon.asOperator('task_create', { task_id: id('never'), title: 'Never done' });
    await daemon.asOperator('task_create', { task_id: id('C'), title: 'Three', after: [id('never')] });
    await daemon.asOperator('task_create', { task_id: id('B'), title: 'Two', after: [id('first')] });
    const waiting = client.callTool(call, { signal: stop.signal });
    await underWay('task_claim');
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const woken = say(client, 'task_claim', { task_id: id('B'), as: 'y', wait_ms: 600_000 });
    await daemon.asOperator('task_waive', { task_id: id('first'), reason: 'a test' });
    expect((await woken).result).toMatchObject({ task_id: id('B') });
    await client.close();
  });

  it('a session does not become a worker by an argument', async () => {
    await daemon.asOperator('task_create', { task_id: id('narrow'), title: 'One' });
    const worker = await open({ mode });
    const claim = await say(worker, 'task_claim', { task_id: id('narrow'), as: 'agent' });
    const session = await open({ mode, token: String(claim.result['token']) });
    const asked = await say(session, 'task_list', { token: daemon.workerToken });
    expect(asked).toMatchObject({ isError: true, text: 'the token is not one of this daemon' });
    await worker.close();
    await session.close();
  });

  it('needs a token, which must not be the operator’s', async () => {
    await expect(open({ mode, token: 'x' })).rejects.toThrow(
      /Unauthorized|the token is not one of this daemon|HTTP 401/,
    );
    await expect(open({ mode, token: daemon.operatorToken })).rejects.toThrow(/never acts for the operator|403/);
  });
});

describe('a session over HTTP', () => {
  it('belongs to its opener', async () => {
    await daemon.asOperator('task_create', { task_id: 'S1', title: 'S' });
    const claim = await daemon.asOperator('task_claim', { task_id: 'S1', as: 'agent' });
    const client = await open({ mode: 'legacy' });
    const { sessionId = '' } = client.transport ?? {};
    expect(sessionId).not.toBe('');
    const other = claim.ok && hasToken(claim.result) ? claim.result.token : '';
    expect(await ask({ 'mcp-session-id': sessionId }, daemon.workerToken)).toBe(200);
    expect(await ask({ 'mcp-session-id': sessionId }, other)).toBe(404);
    expect(await ask({ 'mcp-session-id': 'made-up' }, daemon.workerToken)).toBe(404);
    expect(await ask({}, daemon.workerToken)).toBe(400);
    await client.close();
  });

  it('lists what its claim allows, and is notified when that changes', async () => {
    await daemon.asOperator('task_create', { task_id: 'L1', title: 'L' });
    const client = await open({ mode: 'legacy' });
    const changed = new Promise((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', resolve);
    });
    const listed = async () => (await client.listTools()).tools.map(({ name }) => name);
    expect(await listed()).toContain('result_submit');
    await say(client, 'task_claim', { task_id: 'L1', as: 'agent' });
    await changed;
    expect(await listed()).toContain('task_complete');
    expect(await listed()).not.toContain('result_submit');
    await client.close();
  });

  it('is not open to pages in a browser', async () => {
    expect(await ask({ origin: 'http://evil.example.com' }, daemon.workerToken)).toBe(403);
  });

  it('does not prevent a daemon from stopping: waiting calls are answered', async () => {
    const client = await open({ mode: 'legacy' });
    await daemon.asOperator('task_create', { task_id: 'S2', title: 'S' });
    await daemon.asOperator('task_claim', { task_id: 'S2', as: 'somebody else' });
    const waiting = say(client, 'task_claim', { task_id: 'S2', as: 'agent', wait_ms: 600_000 });
    await underWay('task_claim');
    await daemon.stop();
    expect((await waiting).text).toBe('there is nothing to claim');
    await daemon.start();
    await client.close();
  });
});

interface Opening {
  readonly mode: (typeof ERAS)[number]['mode'];
  readonly token?: string;
}

async function open({ mode, token = daemon.workerToken }: Opening): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: headers(token) };
  opened = [];
  await client.connect(new StreamableHTTPClientTransport(url(), { requestInit, fetch: noted }));
  return client;
}

/** The bodies of requests whose responses have begun, since the last client was created. */
let opened: unknown[] = [];

const noted: typeof fetch = async (...asked) => {
  const response = await fetch(...asked);
  opened.push(asked[1]?.body);
  return response;
};

/** Waits until a call was received: its response stream opens long before the answer. */
async function underWay(tool: string): Promise<void> {
  await vi.waitFor(() => expect(opened).toContainEqual(expect.stringContaining(`"${tool}"`)));
}

/** Sends a ping with headers that the SDK's client does not allow. */
async function ask(more: Record<string, string>, token: string): Promise<number> {
  const response = await fetch(url(), {
    method: 'POST',
    headers: {
      ...headers(token),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.text();
  return response.status;
}

function url(): URL {
  return new URL(`http://127.0.0.1:${daemon.port}/mcp`);
}

function headers(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'baton-project-path': daemon.repository };
}

function hasToken(value: unknown): value is { token: string } {
  return typeof value === 'object' && value !== null && 'token' in value;
}
