import { readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Daemon } from '../lifecycle.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { ask, Scene } from '../running.cases.ts';

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

describe('the listeners of the daemon', () => {
  it('are for its own user only', () => {
    const mode = (name: string): number => statSync(join(scene.stateDir, name)).mode & 0o777;
    expect(statSync(scene.stateDir).mode & 0o777).toBe(0o700);
    for (const name of [
      'daemon.sock',
      'daemon.json',
      'operator.token',
      'worker.token',
      'metrics.token',
      'session.secret',
      'key.pem',
    ]) {
      expect([name, mode(name)]).toEqual([name, 0o600]);
    }
  });

  it('listen on loopback only', () => {
    const port = daemon.record.port.toString(16).toUpperCase().padStart(4, '0');
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFileSync(path, 'utf8')).join('\n');
    const LISTENS = '0A';
    const sockets = tables.split('\n').map((line) => line.trim().split(/\s+/));
    const ours = sockets.filter(([, local, , state]) => state === LISTENS && local?.endsWith(`:${port}`));
    expect(ours.map(([, local]) => local)).toEqual([`0100007F:${port}`]);
  });

  it('answer the same on both', async () => {
    const { socket, port } = daemon.record;
    const headers = { authorization: `Bearer ${scene.token()}`, 'baton-pass': scene.pass() };
    for (const where of [{ socketPath: socket }, { host: '127.0.0.1', port }]) {
      const heard = await ask({ ...where, path: '/v1/health', headers });
      expect(heard).toMatchObject({ status: 200, answer: { ok: true, result: { pid: process.pid } } });
    }
  });

  it('require a valid token from every caller', async () => {
    const { socket, port } = daemon.record;
    for (const where of [{ socketPath: socket }, { host: '127.0.0.1', port }]) {
      const none = await ask({ ...where, path: '/v1/health' });
      expect(none).toMatchObject({ status: 401, answer: { error: { code: 'no-token' } } });
      expect(none.headers['www-authenticate']).toBe('Bearer');
      for (const token of badTokens()) {
        const bad = await ask({ ...where, path: '/v1/health', headers: { authorization: `Bearer ${token}` } });
        expect(bad).toMatchObject({ status: 401, answer: { error: { code: 'bad-token' } } });
      }
    }
    const basic = await ask({ socketPath: socket, path: '/v1/health', headers: { authorization: scene.token() } });
    expect(basic.answer.error?.code).toBe('bad-token');
  });

  it('allow each kind of token its own operations', async () => {
    const worker = scene.token('worker');
    expect(
      await post('task_unblock', { task_id: 'A', reason: 'x' }, { authorization: `Bearer ${worker}` }),
    ).toMatchObject({
      status: 403,
      answer: { error: { code: 'forbidden' } },
    });
    expect(await post('stop', {}, { authorization: `Bearer ${worker}` })).toMatchObject({ status: 403 });
    await post('task_create', { task_id: 'own', title: 'x' });
    const claimed = await post('task_claim', { task_id: 'own', as: 'ada' }, { authorization: `Bearer ${worker}` });
    const { token } = claimed.answer.result as { token: string };
    const session = { authorization: `Bearer ${token}`, 'baton-project-path': undefined };
    expect(await post('task_heartbeat', { task_id: 'own' }, session)).toMatchObject({ status: 200 });
    expect(await post('task_claim', { as: 'eve' }, session)).toMatchObject({ status: 403 });
    expect(await post('stop', {}, session)).toMatchObject({ status: 403 });
    const [kind, claim, mac = ''] = token.split('.');
    const forged = Buffer.from(
      Buffer.from(claim ?? '', 'base64url')
        .toString()
        .replace('own', 'own2'),
    ).toString('base64url');
    for (const wrong of [
      `${kind}.${forged}.${mac}`,
      `${kind}.${claim}.${mac.slice(0, -2)}`,
      `${token}.x`,
      's..',
      's.',
    ]) {
      const heard = await post('task_heartbeat', { task_id: 'own' }, { authorization: `Bearer ${wrong}` });
      expect(heard).toMatchObject({ status: 401, answer: { error: { code: 'bad-token' } } });
    }
  });

  it('answer only to names of this machine', async () => {
    for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example']) {
      const heard = await ask({ ...bearer({ host }), path: '/v1/health' });
      expect([host, heard.status, heard.answer.error?.code]).toEqual([host, 403, 'bad-host']);
    }
    for (const host of ['localhost', `LOCALHOST:${daemon.record.port}`, '127.0.0.1:1', '[::1]:80']) {
      expect(await ask({ ...bearer({ host }), path: '/v1/health' })).toMatchObject({ status: 200 });
    }
  });

  it("let only the daemon's own page call from a browser", async () => {
    const { port, socket } = daemon.record;
    for (const origin of ['https://evil.example', 'null', `https://localhost:${port}`, 'http://localhost', '']) {
      const heard = await ask({ ...bearer({ origin }), path: '/v1/health' });
      expect([origin, heard.status, heard.answer.error?.code]).toEqual([origin, 403, 'bad-origin']);
    }
    for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
      expect(await ask({ ...bearer({ origin }), path: '/v1/health' })).toMatchObject({ status: 200 });
    }
    const headers = { ...bearer().headers, origin: `http://localhost:${port}` };
    expect(await ask({ socketPath: socket, path: '/v1/health', headers })).toMatchObject({ status: 403 });
  });

  it('refuse bodies that are too large, announced or not, with a message', async () => {
    const large = Buffer.alloc(SERVER_LIMITS.bodyBytes + 1, ' ');
    const announced = await post('task_create', large, { 'content-length': String(large.length) });
    expect(announced).toMatchObject({ status: 413, answer: { error: { code: 'too-large' } } });
    expect(await post('task_create', large, { 'transfer-encoding': 'chunked' })).toMatchObject({ status: 413 });
    const huge = { 'content-length': String(SERVER_LIMITS.drainedBytes + 1) };
    expect(await post('task_create', Buffer.alloc(1), huge)).toMatchObject({ status: 413 });
    const most = JSON.stringify({ task_id: 'most' }).padEnd(60_000);
    expect(await post('task_get', most)).toMatchObject({ status: 404, answer: { error: { code: 'no-such-task' } } });
  });

  it('report what is wrong with a request', async () => {
    expect(await post('nothing', {})).toMatchObject({ status: 404, answer: { error: { code: 'no-such-operation' } } });
    expect(await post('task_create', '{"task_id":')).toMatchObject({
      status: 400,
      answer: { error: { code: 'bad-request' } },
    });
    expect(await ask({ ...bearer(), path: '/v2/x' })).toMatchObject({ status: 404 });
    expect(await ask({ ...bearer(), path: '/v1/task_list' })).toMatchObject({ status: 405 });
    expect(await post('task_list', {}, { 'baton-project-path': undefined })).toMatchObject({
      status: 404,
      answer: { error: { code: 'no-such-project' } },
    });
    expect(await post('task_list', {}, { 'baton-project-path': 'repo' })).toMatchObject({ status: 404 });
    expect(await post('task_list', {}, { 'baton-project-path': scene.folder })).toMatchObject({ status: 404 });
    expect(await post('task_list', {}, { 'baton-project-path': '%zz' })).toMatchObject({ status: 400 });
    expect(await post('task_list', {}, { 'idempotency-key': 'x'.repeat(200) })).toMatchObject({ status: 400 });
    const events = await ask({
      ...bearer({ 'baton-project-path': repository, 'last-event-id': 'x' }),
      path: '/v1/events',
    });
    expect(events).toMatchObject({ status: 400 });
  });

  it('refuse a client of another version, except for health and stop', async () => {
    const heard = await post('task_list', {}, { 'baton-version': '99.0.0' });
    expect(heard).toMatchObject({ status: 409, answer: { error: { code: 'other-version' } } });
    expect(await ask({ ...bearer({ 'baton-version': '99.0.0' }), path: '/v1/health' })).toMatchObject({ status: 200 });
  });

  it('close connections that send garbage or far too many headers', async () => {
    for (const text of ['rubbish\r\n\r\n', `GET / HTTP/1.1\r\nx: ${'x'.repeat(SERVER_LIMITS.headerBytes)}\r\n\r\n`]) {
      const socket = connect(daemon.record.socket);
      socket.write(text);
      expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1\.1 4/);
    }
  });

  it('limit concurrent requests per connection', async () => {
    const socket = connect(daemon.record.socket);
    const who = `authorization: Bearer ${scene.token()}\r\nbaton-pass: ${scene.pass()}\r\n`;
    const headers = `host: x\r\n${who}baton-project-path: ${repository}\r\n`;
    const body = JSON.stringify({ as: 'ada', wait_ms: 300, role: 'nobody' });
    const one = `POST /v1/task_claim HTTP/1.1\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
    socket.write(one.repeat(SERVER_LIMITS.requestsPerConnection + 10));
    const heard = (await socket.toArray()).join('');
    expect(heard.match(/"code":"no-work"/g)).toHaveLength(SERVER_LIMITS.requestsPerConnection);
    // The request over the limit gets 429, and the connection is closed.
    expect(heard.match(/HTTP\/1\.1 429/g)).toHaveLength(1);
  });
});

function bearer(headers: Record<string, string> = {}) {
  const { port } = daemon.record;
  return { host: '127.0.0.1', port, headers: { authorization: `Bearer ${scene.token()}`, ...headers } };
}

async function post(operation: string, body: unknown, headers: Record<string, string | undefined> = {}) {
  const who = { authorization: `Bearer ${scene.token()}`, 'baton-pass': scene.pass() };
  const all = { ...who, 'baton-project-path': repository, ...headers };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return ask({ socketPath: daemon.record.socket, method: 'POST', path: `/v1/${operation}`, headers: given }, text);
}

function badTokens(): string[] {
  const good = scene.token();
  return ['x', `${good}x`, good.slice(0, -1), `x${good.slice(1)}`, 's.e30.x', good.toUpperCase()];
}
