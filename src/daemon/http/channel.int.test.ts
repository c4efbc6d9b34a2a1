import { connect, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../api/answer.ts';
import { createClient } from '../../api/client/connect.ts';
import { FrameReader, renderFrame } from '../../api/client/frames.ts';
import type { Daemon } from '../lifecycle.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { Scene, until } from '../running.cases.ts';
import { AccessTokens } from '../tokens.ts';
import { OperationChannel } from './channel.ts';
import { ActiveCalls } from './connections.ts';

let scene: Scene;
let daemon: Daemon;
let repository: string;

beforeAll(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  daemon = await scene.runDaemon();
});
afterAll(async () => {
  await daemon.stop();
  await scene.end();
});

describe('a channel', () => {
  it('answers many calls on one connection, each when it is ready', async () => {
    using channel = await openChannel();
    channel.call(1, 'task_claim', { as: 'ada', wait_ms: 60_000, role: 'first' });
    channel.call(2, 'task_create', { task_id: 'first', title: 'x', role: 'first' });
    expect(await channel.answerTo(1)).toMatchObject({ ok: true, result: { task_id: 'first' } });
    expect(await channel.answerTo(2)).toMatchObject({ ok: true });
  });

  it('serves hundreds of callers of one client at once', async () => {
    const client = createClient({ env: scene.env, projectPath: repository, autostart: false });
    const waiting = Array.from({ length: 400 }, async (_, i) =>
      client.call('task_claim', { as: `w${i}`, wait_ms: 60_000, role: 'crowd' }),
    );
    const made = Array.from({ length: 400 }, async (_, i) =>
      client.call('task_create', { task_id: `crowd-${i}`, title: 'x', role: 'crowd' }),
    );
    for (const answer of await Promise.all(made)) expect(answer).toMatchObject({ ok: true });
    const claimed = await Promise.all(waiting);
    const ids = claimed.map((answer) =>
      answer.ok ? (answer.result as { task_id: string }).task_id : answer.error.code,
    );
    expect(new Set(ids).size).toBe(400);
    client.close();
  });

  it('releases the claim of a call that was cancelled before its answer arrived', async () => {
    using channel = await openChannel();
    channel.call(1, 'task_create', { task_id: 'late', title: 'x', role: 'late' });
    await channel.answerTo(1);
    channel.call(2, 'task_claim', { task_id: 'late', as: 'ada', role: 'late' });
    expect(await channel.answerTo(2)).toMatchObject({ ok: true, result: { task_id: 'late' } });
    // The answer may already be on its way, so the daemon handles the cancellation too late.
    channel.cancel(2);
    await until(async () => (await channel.get('late')).claim === null, 'the claim is given back');
    const { endings } = await channel.get('late');
    expect(endings).toMatchObject([
      { how: 'released', reason: 'the caller disconnected before the claim was granted' },
    ]);
  });

  it('releases a claim that is cancelled between its commit and its answer', async () => {
    using operator = await openChannel();
    operator.call(1, 'task_create', { task_id: 'between', title: 'x', role: 'between' });
    await operator.answerTo(1);
    const client = createClient({ env: scene.env, projectPath: repository, autostart: false });
    const tokens = new AccessTokens(scene.stateDir);
    const [ours, theirs] = duplexPair();
    const identity = tokens.identify(scene.token());
    if (identity === undefined) throw new Error('a strange token');
    const released = Promise.withResolvers<Answer>();
    OperationChannel.serve(theirs, Buffer.alloc(0), {
      identity,
      token: scene.token(),
      projectPath: repository,
      tokens,
      refuse: () => undefined,
      underWay: new ActiveCalls(),
      isStopping: () => false,
      dispatch: async ({ operation, token, body, signal }) => {
        const answer = await client.forward(operation, body.toString(), { token });
        // The entry is committed. The caller cancels now, before the answer is sent.
        if (operation === 'task_claim') ours.write(renderFrame('cancel 1', ''));
        else released.resolve(answer);
        if (signal !== undefined) await until(() => signal.aborted, 'the call is called off');
        return answer;
      },
    });
    ours.write(
      renderFrame('call 1 task_claim k1  ', JSON.stringify({ task_id: 'between', as: 'ada', role: 'between' })),
    );
    expect(await released.promise).toMatchObject({ ok: true });
    expect(await operator.get('between')).toMatchObject({ claim: null, endings: [{ how: 'released' }] });
    ours.destroy();
    client.close();
  });

  it('keeps the claim of a caller whose connection is lost, because it may return with the same key', async () => {
    const first = await openChannel();
    first.call(1, 'task_create', { task_id: 'lost', title: 'x' });
    await first.answerTo(1);
    first.call(2, 'task_claim', { task_id: 'lost', as: 'ada' }, { key: 'the-key' });
    const before = await first.answerTo(2);
    first[Symbol.dispose]();
    using second = await openChannel();
    second.call(1, 'task_claim', { task_id: 'lost', as: 'ada' }, { key: 'the-key' });
    expect(await second.answerTo(1)).toMatchObject({ ok: true, result: { epoch: 1 } });
    expect(before).toMatchObject({ ok: true });
    expect((await second.get('lost')).claim).not.toBeNull();
  });

  it('has the same access checks as every other path', async () => {
    expect(await openChannel({ token: 'x' }).catch(String)).toContain('HTTP/1.1 401');
    expect(await openChannel({ headers: 'origin: https://evil.example\r\n' }).catch(String)).toContain('HTTP/1.1 403');
    expect(await openChannel({ headers: 'baton-version: 99.0.0\r\n' }).catch(String)).toContain('other-version');
    expect(await openChannel({ upgrade: 'websocket' }).catch(String)).toContain('HTTP/1.1 400');
    using channel = await openChannel();
    channel.call(1, 'task_list', {}, { token: 's.e30.x' });
    channel.call(2, 'task_list', {}, { token: '_' });
    channel.call(3, 'task_list', {}, { path: '%zz' });
    channel.call(4, 'task_list', {}, { key: 'x'.repeat(SERVER_LIMITS.idempotencyKeyLength + 1) });
    channel.call(5, 'task_list', { padding: 'x'.repeat(SERVER_LIMITS.bodyBytes) });
    channel.call(6, 'nothing', {});
    const codes = ['bad-token', 'bad-token', 'bad-request', 'bad-request', 'too-large', 'no-such-operation'];
    for (const [i, code] of codes.entries())
      expect([i, await channel.answerTo(i + 1)]).toMatchObject([i, { ok: false, error: { code } }]);
    channel.call(7, 'task_list', { limit: 1 });
    expect(await channel.answerTo(7)).toMatchObject({ ok: true });
  });

  it('gives a session no more rights than its own token', async () => {
    using channel = await openChannel({ token: scene.token('worker') });
    channel.call(1, 'task_create', { task_id: 'forbidden', title: 'x' });
    expect(await channel.answerTo(1)).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  it('limits concurrent calls, and closes on an invalid frame', async () => {
    using channel = await openChannel();
    const last = SERVER_LIMITS.callsPerChannel + 1;
    for (let id = 1; id <= last; id++) channel.call(id, 'task_claim', { as: 'ada', wait_ms: 60_000, role: 'nobody' });
    expect(await channel.answerTo(last)).toMatchObject({ ok: false, error: { code: 'rate-limited' } });
    channel.socket.write('rubbish\n');
    await until(() => channel.socket.destroyed, 'the daemon has hung up');
  });
});

it('delivers answers that are still buffered when the daemon stops', async () => {
  const own = new Scene();
  try {
    const place = { scene: own, daemon: await own.runDaemon(), repository: own.makeRepository() };
    using channel = await openChannel({}, place);
    using other = await openChannel({}, place);
    for (let id = 1; id <= 20; id++)
      channel.call(id, 'task_create', { task_id: `T${id}`, title: 'x', description: 'x'.repeat(4000) });
    expect(await channel.answerTo(20)).toMatchObject({ ok: true });
    // More than a socket buffers, but less than the daemon keeps. The last answer shows that all calls were handled.
    channel.socket.pause();
    for (let id = 101; id <= 110; id++) channel.call(id, 'task_list', {});
    channel.call(111, 'task_create', { task_id: 'last', title: 'x' });
    await until(async () => (await other.get('last')).claim === null, 'all were heard');
    await place.daemon.stop();
    await new Promise(setImmediate);
    channel.socket.resume();
    for (let id = 101; id <= 111; id++) expect(await channel.answerTo(id)).toMatchObject({ ok: true });
    await place.daemon.stopped;
  } finally {
    await own.end();
  }
});

/** A channel without Baton's client. The test writes every byte. */
class RawChannel {
  readonly socket: Socket;
  readonly #answers = new Map<number, Answer>();
  #lastId = 1_000_000;

  constructor(socket: Socket) {
    this.socket = socket;
    const reader = new FrameReader({
      bodyBytes: 1e8,
      onFrame: ([, id], body) => this.#answers.set(Number(id), JSON.parse(String(body))) !== undefined,
    });
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.on('error', () => {});
  }

  call(
    id: number,
    operation: string,
    input: unknown,
    words: { key?: string; token?: string; path?: string } = {},
  ): void {
    const { key = `${operation}-${id}-${Math.random()}`, token = '', path = '' } = words;
    this.socket.write(renderFrame(`call ${id} ${operation} ${key} ${token} ${path}`, JSON.stringify(input)));
  }

  cancel(id: number): void {
    this.socket.write(renderFrame(`cancel ${id}`, ''));
  }

  async answerTo(id: number): Promise<Answer | undefined> {
    await until(() => this.#answers.has(id), `call ${id} is answered`);
    return this.#answers.get(id);
  }

  async get(task_id: string): Promise<{ claim: unknown; endings: unknown }> {
    const id = ++this.#lastId;
    this.call(id, 'task_get', { task_id });
    const answer = await this.answerTo(id);
    return (answer?.ok === true ? answer.result : answer) as { claim: unknown; endings: unknown };
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

async function openChannel(
  options: { token?: string; headers?: string; upgrade?: string } = {},
  place: { scene: Scene; daemon: Daemon; repository: string } = { scene, daemon, repository },
): Promise<RawChannel> {
  const { token = place.scene.token(), headers = '', upgrade = 'baton-calls' } = options;
  const socket = connect(place.daemon.record.socket);
  const path = encodeURI(place.repository);
  const who = `authorization: Bearer ${token}\r\nbaton-pass: ${place.scene.pass()}\r\n`;
  const head = `host: x\r\n${who}baton-project-path: ${path}\r\n${headers}`;
  socket.write(`GET /v1/calls HTTP/1.1\r\n${head}connection: upgrade\r\nupgrade: ${upgrade}\r\n\r\n`);
  const answer = await new Promise<string>((resolve) => {
    socket.once('data', (chunk) => resolve(String(chunk)));
  });
  if (answer.startsWith('HTTP/1.1 101')) return new RawChannel(socket);
  socket.destroy();
  throw new Error(answer);
}
