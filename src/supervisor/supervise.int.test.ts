import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../test/processes/until.ts';
import { readProcessIdentity } from '../api/processes.ts';
import { endProcesses, findAlive } from './process/process-tree.ts';
import { Scene, SUPERVISOR_TOKEN, TOKEN } from './scene.cases.ts';
import { inLongLane } from '../../test/lanes.ts';

const sh = (script: string) => ({ argv: ['/bin/sh', '-c', script] }) as const;

describe('a supervised process', () => {
  it('runs with its environment, and its exit is written and reported once', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const script =
      'echo "$BATON_AGENT_ID $BATON_SESSION $BATON_TOKEN $BATON_STATE_DIR $FOO $PATH"; echo "$BATON_URL" >&2; exit 3';
    const run = await scene.start({ ...sh(script), env: { FOO: 'bar' } });
    const exit = await run.exit();
    expect(exit).toMatchObject({ start: 1, code: 3, signal: null, timed_out: false, blocks_used: false });
    const log = readFileSync(run.files.log, 'utf8');
    expect(log).toContain(`${scene.agentId} ${scene.agentId} ${TOKEN} ${scene.stateDir} bar ${run.files.bin}:`);
    expect(log).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
    expect(exit.output).toBe(log.trim());
    expect(scene.daemon.of('agent_report').map(({ input }) => input['kind'])).toEqual(['started', 'exited']);
    expect(scene.daemon.of('agent_report').every(({ token }) => token === SUPERVISOR_TOKEN)).toBe(true);
  });

  it('is started once: a second supervisor of the same start exits at once', async () => {
    await using scene = new Scene();
    const first = await scene.start(sh('exec cat'));
    await first.running();
    const second = await scene.supervise(first.launch);
    await new Promise((resolve) => {
      second.child.once('exit', resolve);
    });
    expect(second.child.exitCode).toBe(75);
    expect(scene.alive()).toHaveLength(1);
  });

  it('that cannot be started ends as in a shell', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ argv: ['/no/such/program'] });
    expect(await run.exit()).toMatchObject({ code: 127, output: 'there is no program /no/such/program' });
    expect(scene.daemon.reports('exited')).toHaveLength(1);
    expect(scene.daemon.reports('started')).toHaveLength(0);
  });

  it('gets its prompt and later messages as lines, each message once', async () => {
    await using scene = new Scene();
    const run = await scene.start({
      ...sh('while read line; do echo "got $line"; [ "$line" = end ] && exit; done'),
      prompt: 'begin',
    });
    await run.running();
    const message = { kind: 'send', message_id: 'm1', text: 'middle' } as const;
    expect(await run.control(message)).toEqual({ ok: true });
    expect(await run.control(message)).toEqual({ ok: true });
    await run.control({ kind: 'send', message_id: 'm2', text: 'end' });
    expect((await run.exit()).output).toBe('got begin\ngot middle\ngot end');
  });

  it('whose input is closed cannot receive messages, and the sender learns that', async () => {
    await using scene = new Scene();
    const run = await scene.start({ ...sh('cat; exec sleep 60'), input: 'none' });
    await run.running();
    expect(await run.control({ kind: 'send', message_id: 'm', text: 'hello' })).toMatchObject({ ok: false });
  });

  it('is ended at its timeout, and killed if it ignores SIGTERM', async () => {
    await using scene = new Scene();
    const run = await scene.start({
      ...sh('trap "" TERM; echo deaf; while :; do sleep 1; done'),
      timeout_ms: 300,
      kill_after_ms: 300,
    });
    expect(await run.exit()).toMatchObject({ code: null, signal: 'SIGKILL', timed_out: true, output: 'deaf' });
    expect(scene.alive()).toEqual([]);
  });

  it('is killed with all its descendants, even those that left its group, and that is verified', async () => {
    await using scene = new Scene();
    const run = await scene.start({
      ...sh('setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done" & sleep 600 & wait'),
      kill_after_ms: 200,
    });
    await until('all three run', () => scene.alive().length >= 3);
    expect(await run.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    expect(scene.alive()).toEqual([]);
    expect(await run.exit()).toMatchObject({ code: null, signal: 'SIGTERM', timed_out: false });
  });

  it('is killed with children that have neither its group nor its mark', async () => {
    await using scene = new Scene();
    const orphan = join(scene.folder, 'orphan');
    const hidden = `env -i /bin/sh -c 'echo $$ > ${orphan}.draft; mv ${orphan}.draft ${orphan}; exec sleep 600'`;
    const run = await scene.start({ ...sh(`setsid ${hidden} & sleep 600`), kill_after_ms: 200 });
    const pid = Number(await until('it runs', () => existsSync(orphan) && readFileSync(orphan, 'utf8')));
    onTestFinished(() => void (readProcessIdentity(pid) === undefined || process.kill(pid, 'SIGKILL')));
    expect(await run.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    expect(readProcessIdentity(pid)).toBeUndefined();
  });

  it('leaves a daemon alone that it has just started', async () => {
    await using scene = new Scene();
    const daemon = join(scene.folder, 'daemon');
    const started = `env -u BATON_AGENT_ID setsid /bin/sh -c 'echo $$ > ${daemon}.draft; mv ${daemon}.draft ${daemon}; exec sleep 600'`;
    const run = await scene.start({ ...sh(`${started} & sleep 600`), kill_after_ms: 200 });
    const pid = Number(await until('it runs', () => existsSync(daemon) && readFileSync(daemon, 'utf8')));
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(await run.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    expect(readProcessIdentity(pid)).toBeDefined();
  });

  inLongLane(() => {
    it.runIf(process.getuid?.() === 0)('is not waited for if it belongs to another user', async () => {
      const theirs = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
      onTestFinished(() => void theirs.kill('SIGKILL'));
      await once(theirs, 'spawn');
      const script = `
      import { endProcesses } from ${JSON.stringify(join(import.meta.dirname, 'process', 'process-tree.ts'))};
      process.setuid(65534);
      await endProcesses({ leader: ${theirs.pid}, mark: 'X=y' }, 100);`;
      const ours = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
      onTestFinished(() => void ours.kill('SIGKILL'));
      expect(await once(ours, 'exit')).toEqual([0, null]);
      expect(readProcessIdentity(theirs.pid ?? 0)).toBeDefined();
    });
  });

  it('takes its remaining processes with it when it exits by itself', async () => {
    await using scene = new Scene();
    const run = await scene.start({ ...sh('setsid sleep 600 & sleep 600 & echo bye'), kill_after_ms: 200 });
    expect(await run.exit()).toMatchObject({ code: 0, output: 'bye' });
    expect(scene.alive()).toEqual([]);
  });

  it('leaves no process that counts as alive even if zombies are not collected', async () => {
    // A process with a zombie child: the child has exited, and the parent does not collect it.
    const parent = spawn('sh', ['-c', 'sleep 0 & exec sleep 60'], {
      env: { ...process.env, MARKED: 'zombie' },
      stdio: 'ignore',
    });
    try {
      const isZombie = (pid: number): boolean => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
      const child = await until('there is a zombie', () =>
        readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8')
          .split(' ')
          .map(Number)
          .find((pid) => pid > 0 && isZombie(pid)),
      );
      expect(findAlive({ leader: -1, mark: 'MARKED=zombie' })).toEqual([parent.pid]);
      expect(child).toBeGreaterThan(0);
    } finally {
      parent.kill('SIGKILL');
    }
  });

  it('renews its claim while it lives', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...sh('cat'), renew_ms: 30 });
    await until('the claim was renewed three times', () => scene.daemon.of('task_heartbeat').length >= 3);
    expect(scene.daemon.of('task_heartbeat')[0]?.token).toBe(TOKEN);
    await run.control({ kind: 'kill', reason: '' });
    await run.exit();
  });

  it('that is silent is reported idle once, and again after a message and further silence', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ ...sh('exec sleep 60'), idle_ms: 100 });
    await until('it was idle', () => scene.daemon.reports('idle').length === 1);
    await run.control({ kind: 'send', message_id: 'm', text: 'go on' });
    await until('it was idle again', () => scene.daemon.reports('idle').length === 2);
    expect(scene.daemon.reports('idle')[0]?.input).toEqual({ kind: 'idle', why: 'quiet' });
  });

  it('ends with a supervisor that gets SIGTERM', async () => {
    await using scene = new Scene();
    const run = await scene.start(sh('cat'));
    await run.running();
    run.child.kill('SIGTERM');
    expect(await run.exit()).toMatchObject({ signal: 'SIGTERM' });
    expect(scene.alive()).toEqual([]);
  });

  it('leaves later processes with the same id alone', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    // The agent exits long after SIGTERM, so the supervisor searches for it less often.
    const run = await scene.start(
      sh('trap "trap \\"\\" TERM; sleep 0.6; exit 3" TERM; echo ready; while :; do sleep 0.01; done'),
    );
    await until('it runs', () => existsSync(run.files.log) && readFileSync(run.files.log, 'utf8').includes('ready'));
    const killed = run.control({ kind: 'kill', reason: 'enough' });
    await until('its end is reported', () => scene.daemon.reports('exited').length === 1);
    const next = spawn('sleep', ['600'], { env: { BATON_AGENT_ID: scene.agentId }, stdio: 'ignore' });
    try {
      await killed;
      expect(await run.exit()).toMatchObject({ code: 3 });
      expect(next.signalCode).toBeNull();
    } finally {
      next.kill('SIGKILL');
    }
  });

  inLongLane(() => {
    it('is ended if its state folder is gone, because nothing could find it again', async () => {
      await using scene = new Scene();
      const run = await scene.start(sh('exec sleep 1000'));
      await run.running();
      rmSync(scene.stateDir, { recursive: true, maxRetries: 5 });
      expect(await until('it has gone', () => scene.alive().length === 0, 30_000)).toBe(true);
    });
  });

  it('whose supervisor is killed can be found by its mark', async () => {
    await using scene = new Scene();
    const run = await scene.start(sh('trap "" PIPE; while :; do sleep 1; done'));
    const pid = await run.pid();
    run.child.kill('SIGKILL');
    await until('the supervisor has gone', () => run.child.signalCode !== null);
    expect(scene.alive()).toContain(pid);
  });

  it('whose supervisor was killed is ended by its mark', async () => {
    await using scene = new Scene();
    const run = await scene.start(sh('trap "" TERM PIPE; setsid sleep 600 & while :; do sleep 1; done'));
    const leader = await run.pid();
    await until('both run', () => scene.alive().length >= 3);
    run.child.kill('SIGKILL');
    await endProcesses({ leader, mark: `BATON_AGENT_ID=${scene.agentId}` }, 100);
    expect(scene.alive()).toEqual([]);
  });

  it('is ended before the processes that it started in other groups, whose end it would report', async () => {
    await using scene = new Scene();
    const looks =
      'for i in 1 2 3 4 5; do sleep 0.1; done; grep -q "^State:.[^Z]" /proc/$other/status && touch saw; exit 0';
    const run = await scene.start(
      sh(
        `setsid sh -c 'touch apart; exec sleep 600' & other=$!; trap '${looks}' TERM; touch ready; while :; do sleep 0.05; done`,
      ),
    );
    const leader = await run.pid();
    await until('it is ready', () => ['ready', 'apart'].every((name) => existsSync(join(scene.cwd, name))));
    await endProcesses({ leader, mark: `BATON_AGENT_ID=${scene.agentId}` }, 20_000);
    expect(existsSync(join(scene.cwd, 'saw'))).toBe(true);
    expect(scene.alive()).toEqual([]);
  });

  it("neither ends nor waits for another session's processes that have its mark", async () => {
    await using scene = new Scene();
    await using other = new Scene();
    const claims = `BATON_AGENT_ID=${scene.agentId} sh -c 'echo $$ > claims; while :; do sleep 0.01; done'`;
    const impostor = await other.start(sh(`${claims} & wait`));
    await impostor.running();
    const path = join(other.cwd, 'claims');
    const pid = Number(await until('it runs', () => existsSync(path) && readFileSync(path, 'utf8').trim()));
    const run = await scene.start(sh('exec sleep 600'));
    await run.running();
    expect(await run.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    expect(await run.exit()).toMatchObject({ signal: 'SIGTERM' });
    expect(readProcessIdentity(pid)).toBeDefined();
    expect(scene.alive()).toEqual([]);
    // A process belongs to its own session, whatever its environment says.
    expect(await impostor.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    expect(readProcessIdentity(pid)).toBeUndefined();
  });

  it('that is killed is reported with the signal', async () => {
    await using scene = new Scene();
    const run = await scene.start(sh('exec sleep 60'));
    process.kill(await run.pid(), 'SIGKILL');
    expect(await run.exit()).toMatchObject({ code: null, signal: 'SIGKILL', timed_out: false });
  });
});

describe('the end of a command', () => {
  it('is a separate report', async () => {
    await using scene = new Scene();
    await scene.daemon.start();
    const run = await scene.start({ kind: 'command', id: 'command-1', ...sh('echo done; exit 1'), input: 'none' });
    expect(await run.exit()).toMatchObject({ code: 1, output: 'done' });
    expect(scene.daemon.calls.map(({ operation }) => operation)).toEqual(['command_report']);
    expect(scene.daemon.calls[0]?.input).toEqual({
      start: 1,
      code: 1,
      signal: null,
      timed_out: false,
      blocks_used: false,
      output: 'done',
    });
  });
});
