import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scene, until } from '../../daemon/running.cases.ts';
import { connect, createClient } from './connect.ts';
import { KEEPABLE } from '../outbox.ts';
import { OPERATIONS } from '../operations/registry.ts';
import { readDaemonRecord } from '../state-folder.ts';
import { inLongLane } from '../../../test/lanes.ts';

let scene: Scene;
let repository: string;

beforeEach(() => {
  scene = new Scene();
  repository = scene.makeRepository();
});
afterEach(async () => scene.end());

describe('a client', () => {
  it('starts a daemon that outlives it if none runs', async () => {
    const said = await scene.run(`
      import { connect } from '${import.meta.dirname}/connect.ts';
      const client = await connect({ projectPath: ${JSON.stringify(repository)} });
      console.log(JSON.stringify(await client.call('task_create', { task_id: 'A', title: 'x' })));
    `);
    expect(JSON.parse(said)).toMatchObject({ ok: true, result: { task_id: 'A' } });
    const client = createClient({ env: scene.env, projectPath: repository, autostart: false });
    expect(await client.call('task_get', { task_id: 'A' })).toMatchObject({ ok: true });
    expect(existsSync(join(scene.stateDir, 'daemon.starting'))).toBe(false);
    await client.stop();
  });

  it('starts only one daemon when eight start at once', async () => {
    const source = `
      import { connect } from '${import.meta.dirname}/connect.ts';
      const client = await connect({ reachMs: 25_000 });
      console.log(JSON.stringify(await client.health()));
    `;
    const heard = await Promise.all(Array.from({ length: 8 }, async () => scene.run(source)));
    const pids = heard.map((text) => (JSON.parse(text) as { result: { pid: number } }).result.pid);
    expect(new Set(pids)).toEqual(new Set([readDaemonRecord(scene.stateDir)?.pid]));
    const log = readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8');
    expect(log.match(/"message":"started"/g)).toHaveLength(1);
    await createClient({ env: scene.env }).stop();
  });

  inLongLane(() => {
    it('starts a daemon after another client died while starting one', async () => {
      const client = createClient({ env: scene.env });
      await client.reach();
      await client.stop();
      // A process id that no process can have.
      writeFileSync(join(scene.stateDir, 'daemon.starting'), '99999999');
      expect(await client.health()).toMatchObject({ ok: true });
      await client.stop();
    });
  });

  it('starts a daemon in a state folder that is named relative to its own working folder', async () => {
    const client = createClient({ env: { ...scene.env, BATON_STATE_DIR: relative(process.cwd(), scene.stateDir) } });
    expect(await client.health()).toMatchObject({ ok: true });
    expect(readDaemonRecord(scene.stateDir)).toBeDefined();
    await client.stop();
  });

  it('reports why a daemon does not start', async () => {
    const client = await connect({ env: { ...scene.env, BATON_TICK_MS: 'often' } });
    const answer = await client.call('task_list', {});
    expect(answer).toMatchObject({ ok: false, error: { code: 'daemon-away' } });
    expect(JSON.stringify(answer)).toContain('BATON_TICK_MS must be a whole number of milliseconds');
  });

  inLongLane(() => {
    it('finds the next daemon even after a wait that exceeds its time to reach one', { timeout: 90_000 }, async () => {
      const reachMs = 5000;
      const client = await connect({ env: scene.env, projectPath: repository, reachMs });
      const lost = readDaemonRecord(scene.stateDir)?.pid ?? 0;
      const before = performance.now();
      const claimed = client.call('task_claim', { as: 'ada', wait_ms: 60_000 });
      await until(() => performance.now() - before > reachMs, 'it has waited for long');
      process.kill(lost, 'SIGKILL');
      await until(() => (readDaemonRecord(scene.stateDir)?.pid ?? lost) !== lost, 'there is another daemon');
      expect(await client.call('task_create', { task_id: 'A', title: 'x' })).toMatchObject({ ok: true });
      expect(await claimed).toMatchObject({ ok: true, result: { task_id: 'A' } });
      await client.stop();
    });
  });

  it('waits for a daemon that stops, and starts the next one', async () => {
    const client = await connect({ env: scene.env, projectPath: repository });
    const before = await client.health();
    const [stopped, answer] = await Promise.all([
      createClient({ env: scene.env }).stop(),
      client.call('task_list', {}),
    ]);
    expect([stopped, answer]).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await client.health()).not.toEqual(before);
    await client.stop();
  });

  it('names the process that does not stop, and how to end it', async () => {
    const client = await connect({ env: scene.env });
    const pid = readDaemonRecord(scene.stateDir)?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      expect(await client.stop({ timeoutMs: 300 })).toEqual({
        ok: false,
        error: {
          code: 'no-answer',
          message: `the daemon does not answer (pid ${pid})`,
          hint: `End the process: kill -KILL ${pid}. Agents continue, and the daemon stays down.`,
        },
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await client.stop();
  });

  it('never uses the operator token if the environment has a token', async () => {
    const operator = await connect({ env: scene.env, projectPath: repository });
    const session = createClient({ env: { ...scene.env, BATON_TOKEN: 's.e30.x' }, projectPath: repository });
    expect(await session.call('task_list', {})).toMatchObject({ ok: false, error: { code: 'bad-token' } });
    expect(await session.stop()).toMatchObject({ ok: false, error: { code: 'bad-token' } });
    const worker = createClient({ env: scene.env, as: 'worker', projectPath: repository });
    expect(await worker.call('task_list', {})).toMatchObject({ ok: true });
    expect(await worker.stop()).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    await operator.stop();
  });

  it('gets an error from a daemon of another version, and can still stop it', async () => {
    await connect({ env: scene.env });
    const said = await scene.run(`
      const { VERSION } = await import('${import.meta.dirname}/../version.ts');
      const { request } = await import('node:http');
      const { readDaemonRecord, readToken } = await import('${import.meta.dirname}/../state-folder.ts');
      const { makePass } = await import('${import.meta.dirname}/../operator-pass.ts');
      const stateDir = process.env.BATON_STATE_DIR;
      const headers = { authorization: 'Bearer ' + readToken(stateDir, 'operator'), 'baton-version': VERSION + '-other' };
      const { socket } = readDaemonRecord(stateDir);
      for (const path of ['/v1/task_list', '/v1/stop']) {
        await new Promise((done) => request({ socketPath: socket, path, method: 'POST', headers: { ...headers, 'baton-pass': makePass(stateDir) } }, async (response) => {
          console.log(response.statusCode, (await response.toArray()).join(''));
          done();
        }).end('{}'));
      }
    `);
    expect(said).toMatch(/^409 .*"code":"other-version".*baton down.*\n200 \{"ok":true/);
    await until(() => readDaemonRecord(scene.stateDir) === undefined, 'it has stopped');
  });

  it('cancels a call on request', async () => {
    const client = await connect({ env: scene.env, projectPath: repository });
    const controller = new AbortController();
    const waiting = client.call('task_claim', { as: 'ada', wait_ms: 60_000 }, { signal: controller.signal });
    const isWaiting = async (count: number) => JSON.stringify(await client.health()).includes(`"requests":${count}`);
    await until(async () => isWaiting(1), 'the claim waits');
    controller.abort();
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'aborted' } });
    await until(async () => isWaiting(0), 'the daemon has noticed');
    expect(await client.call('task_create', { task_id: 'A', title: 'x' })).toMatchObject({ ok: true });
    expect(await client.call('task_get', { task_id: 'A' })).toMatchObject({ result: { claim: null } });
    await client.stop();
  });

  it('keeps only calls whose answer is not needed', () => {
    const later = new Set(['agent_signal', 'merge_request']);
    for (const name of KEEPABLE) expect([name, OPERATIONS.get(name)?.kind ?? later.has(name)]).not.toContain('read');
  });
});
