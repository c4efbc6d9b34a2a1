import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type ConnectOptions } from '../api/client/connect.ts';
import { EXIT_DAEMON_RUNNING } from '../api/client/start-daemon.ts';
import { readDaemonRecord } from '../api/state-folder.ts';
import { runDaemon } from './lifecycle.ts';
import { isDaemon, Scene, until } from './running.cases.ts';
import { inLongLane } from '../../test/lanes.ts';

let scene: Scene;
let repository: string;

beforeEach(() => {
  scene = new Scene();
  repository = scene.makeRepository();
});
afterEach(async () => scene.end());

describe('a daemon', () => {
  it('is the only one of its state folder, and another one names its process', async () => {
    const first = await scene.spawnDaemon();
    expect(first.said).toBe('ready');
    const second = await scene.spawnDaemon();
    expect(second.said).toContain(`a daemon already runs for ${scene.stateDir}: process ${first.child.pid}`);
    expect(await second.exited).toBe(EXIT_DAEMON_RUNNING);
    expect(await client().health()).toMatchObject({ ok: true, result: { pid: first.child.pid } });
  });

  it('starts after a killed one, whatever files that left, and keeps its state', async () => {
    const first = await scene.spawnDaemon();
    const create = async (id: string, key: string) =>
      client().call('task_create', { task_id: id, title: 'x' }, { key });
    const settled = await create('A', 'key-a');
    expect(settled).toMatchObject({ ok: true });
    first.child.kill('SIGKILL');
    await first.exited;
    expect(existsSync(join(scene.stateDir, 'daemon.sock'))).toBe(true);
    const left = join(scene.stateDir, 'look', 'l-left');
    mkdirSync(left, { recursive: true });
    const second = await scene.spawnDaemon();
    expect(second.said).toBe('ready');
    expect(existsSync(left)).toBe(false);
    expect(await create('A', 'key-a')).toEqual(settled);
    expect(await create('A', 'key-b')).toMatchObject({ ok: false, error: { code: 'task-exists' } });
    expect(await client().call('task_get', { task_id: 'A' })).toMatchObject({ ok: true });
  });

  inLongLane(() => {
    it('settles every keyed command once, even if it is killed repeatedly', async () => {
      const one = client({ autostart: true, reachMs: 30_000 });
      await one.reach();
      let sent = 0;
      let isOver = false;
      const sendOn = async (): Promise<void> => {
        while (!isOver) {
          const id = `T${(sent += 1)}`;
          expect(await one.call('task_create', { task_id: id, title: 'x' }, { key: id })).toMatchObject({ ok: true });
        }
      };
      const senders = Array.from({ length: 16 }, sendOn);
      for (let kills = 0, last = 0; kills < 3; kills++) {
        await until(() => (readDaemonRecord(scene.stateDir)?.pid ?? last) !== last, 'there is another daemon');
        last = readDaemonRecord(scene.stateDir)?.pid ?? 0;
        const [before, pid] = [sent, last];
        await until(() => sent > before + 50, 'some more was sent');
        if (isDaemon(pid)) process.kill(pid, 'SIGKILL');
      }
      isOver = true;
      await Promise.all(senders);
      const ledger: string[] = [];
      for await (const { type, json } of one.events({ signal: AbortSignal.timeout(5000) })) {
        if (type === 'TaskCreated') ledger.push(json);
        if (ledger.length === sent) break;
      }
      expect(new Set(ledger.map((json) => /"task_id":"(T\d+)"/.exec(json)?.[1])).size).toBe(sent);
      expect(await scene.entries()).toHaveLength(sent + 2);
      await one.stop();
    });
  });

  it('stops on a signal: answers waiting calls, removes its files and releases the lock', async () => {
    const { child, exited } = await scene.spawnDaemon();
    const waiter = client();
    await waiter.reach();
    const waiting = waiter.call('task_claim', { as: 'ada', wait_ms: 600_000 });
    const events = client().events();
    await events.next();
    // Once a request on a later connection is answered, the claim waits in the daemon.
    await client().call('task_list', {});
    child.kill('SIGTERM');
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'no-work' } });
    expect(await exited).toBe(0);
    await events.return(undefined);
    for (const name of ['daemon.sock', 'daemon.json']) expect(existsSync(join(scene.stateDir, name))).toBe(false);
    const log = readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8').trim().split('\n');
    expect(log.map((line) => (JSON.parse(line) as { message: string }).message).at(-1)).toBe('stopped');
    expect((await scene.spawnDaemon()).said).toBe('ready');
  });

  it('stops for an operator, and answers when everything is closed', async () => {
    const { exited } = await scene.spawnDaemon();
    await client().call('task_create', { task_id: 'A', title: 'x' });
    const stops = await Promise.all([client().stop(), client().stop()]);
    expect(stops).toEqual([1, 2].map(() => ({ ok: true, result: { wasRunning: true, agents: 0 } })));
    expect(existsSync(join(scene.stateDir, 'daemon.json'))).toBe(false);
    expect(await exited).toBe(0);
    expect(await client().stop()).toEqual({ ok: true, result: { wasRunning: false, agents: 0 } });
  });

  it('refuses new work while it stops', async () => {
    const daemon = await scene.runDaemon();
    const slow = connect(daemon.record.socket);
    const who = `authorization: Bearer ${scene.token()}\r\nbaton-pass: ${scene.pass()}\r\n`;
    const headers = `host: x\r\n${who}baton-project-path: ${repository}\r\n`;
    slow.write(`POST /v1/task_list HTTP/1.1\r\n${headers}content-length: 2\r\n\r\n{`);
    const patient = client({ reachMs: 0 });
    expect(await patient.call('task_list', {})).toMatchObject({ ok: true });
    const stopping = daemon.stop();
    expect(await patient.call('task_list', {})).toMatchObject({ ok: false, error: { code: 'stopping' } });
    slow.write('}');
    await stopping;
    expect((await slow.toArray()).join('')).toContain('{"ok":true,"result":{"tasks":[],"total":0}}');
  });

  it('ends at once on a second signal', async () => {
    const { child, exited } = await scene.spawnDaemon();
    const slow = connect(readDaemonRecord(scene.stateDir)?.socket ?? '');
    const who = `authorization: Bearer ${scene.token()}\r\nbaton-pass: ${scene.pass()}\r\n`;
    const headers = `host: x\r\n${who}baton-project-path: ${repository}\r\n`;
    slow.write(`POST /v1/task_list HTTP/1.1\r\n${headers}content-length: 2\r\n\r\n{`);
    const log = (): string => readFileSync(join(scene.stateDir, 'daemon.log'), 'utf8');
    expect(await client().call('task_list', {})).toMatchObject({ ok: true });
    child.kill('SIGTERM');
    await until(() => log().includes('"stopping"'), 'it has begun to stop');
    child.kill('SIGINT');
    expect(await exited).toBe(130);
    expect(log()).not.toContain('"stopped"');
    slow.destroy();
  });

  it('ends when its folder is removed', async () => {
    const { exited } = await scene.spawnDaemon();
    rmSync(scene.stateDir, { recursive: true });
    expect(await exited).toBe(0);
  });

  it('listens elsewhere if the path of the state folder is too long', async () => {
    const stateDir = join(scene.folder, 'x'.repeat(120));
    const { child, said } = await scene.spawnDaemon({ BATON_STATE_DIR: stateDir });
    expect(said).toBe('ready');
    const { socket = '' } = readDaemonRecord(stateDir) ?? {};
    expect(socket.length).toBeLessThan(104);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(await client({ stateDir }).health()).toMatchObject({ ok: true, result: { pid: child.pid } });
    expect(await client({ stateDir }).stop()).toMatchObject({ ok: true });
    expect(existsSync(dirname(socket))).toBe(false);
  });

  it('closes its folder to others, and refuses secrets that others can read', async () => {
    mkdirSync(scene.stateDir, { mode: 0o755 });
    chmodSync(scene.stateDir, 0o755);
    writeFileSync(join(scene.stateDir, 'operator.token'), 'o.x', { mode: 0o644 });
    const { said, exited } = await scene.spawnDaemon();
    expect(said).toContain('operator.token can be read by other users. Run: chmod 600');
    expect(await exited).toBe(1);
    expect(statSync(scene.stateDir).mode & 0o777).toBe(0o700);
  });

  it('refuses to start with invalid settings', async () => {
    for (const value of ['0', '-1', '1.5', '15m', '1e3', '99999999999']) {
      const started = await runDaemon({ stateDir: scene.stateDir, env: { BATON_CLAIM_EXPIRY_MS: value } });
      expect(started).toMatchObject({ ok: false, error: { code: 'bad-setting' } });
    }
    const { said } = await scene.spawnDaemon({ BATON_TICK_MS: 'often' });
    expect(said).toContain(`BATON_TICK_MS must be a whole number of milliseconds from 1 to 2147483647, not 'often'`);
  });

  it('treats all worktrees of a repository as one project, and follows exit_protocol of the adopted baton.toml', async () => {
    const worktree = join(scene.folder, 'ein Ärbeitsbaum 100%');
    execFileSync('git', ['-C', repository, 'worktree', 'add', '-q', '-b', 'there', worktree]);
    mkdirSync(join(worktree, 'sub'));
    await scene.spawnDaemon();
    await client().call('task_create', { task_id: 'A', title: 'x' });
    const there = client({ projectPath: join(worktree, 'sub') });
    const claimed = await there.call('task_claim', { as: 'ada' });
    expect(claimed).toMatchObject({ ok: true, result: { task_id: 'A' } });
    const { token = '' } = (claimed.ok ? claimed.result : {}) as { token?: string };
    const session = client({ token });
    const signal = {
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: 'CI_PENDING',
      exit_reason: 'completed',
    };
    expect(await session.forward('exit_signal', signal)).toMatchObject({
      error: { message: 'exit signal validation is disabled (AGENT_EXIT_PROTOCOL_ENABLED=false)' },
    });
    writeFileSync(join(repository, 'baton.toml'), 'exit_protocol = true\n');
    expect(await client().call('runbook_adopt', {})).toMatchObject({ ok: true });
    expect(await session.forward('exit_signal', signal)).toMatchObject({
      error: { message: "phase mismatch: exit signal claims 'CI_PENDING' but session is in 'IMPLEMENTATION'" },
    });
  });
});

function client(options: ConnectOptions = {}) {
  return createClient({
    env: scene.env,
    stateDir: scene.stateDir,
    projectPath: repository,
    autostart: false,
    reachMs: 5000,
    ...options,
  });
}
