import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../test/processes/until.ts';
import { readProcStat } from '../api/processes.ts';
import { Scene, type Supervised } from './scene.cases.ts';

const sh = (script: string) => ({ argv: ['/bin/sh', '-c', script] }) as const;
/** Writes lines in a loop, each from a separate process, in two process groups. */
const BUSY = `tick() { while :; do sh -c "echo $1 >> ticks"; done; }; setsid sh -c "while :; do sh -c 'echo apart >> ticks'; done" & tick own`;

/** A scene whose daemon answers with the lease of the claim, or with the reason of a refusal. */
function fleetScene(): { scene: Scene; lease: { answer: object } } {
  const lease = { answer: granted(60_000) };
  return { scene: new Scene({ task_heartbeat: () => lease.answer }), lease };
}

const granted = (lease_ms: number) => ({ ok: true, result: { lease_ms } });
const ended = (code: string) => ({ ok: false, error: { code, message: '', hint: '' } });

describe('an agent whose claim cannot be renewed', () => {
  it('is frozen with all its processes, and continues when the claim is renewed', async () => {
    const { scene, lease } = fleetScene();
    await using _ = scene;
    await scene.daemon.start();
    const run = await scene.start({ ...sh(BUSY), renew_ms: 50, fleet: true, timeout_ms: 60_000 });
    await until('both write', () => ['own', 'apart'].every((who) => ticks(scene).includes(who)));
    lease.answer = granted(0);
    await untilFrozen(scene);
    const [frozen, asked] = [ticks(scene).length, scene.daemon.of('task_heartbeat').length];
    await until('it still asks', () => scene.daemon.of('task_heartbeat').length > asked + 3);
    expect(standsStill(scene)).toBe(true);
    expect(ticks(scene).length).toBe(frozen);
    lease.answer = granted(60_000);
    await until('both go on', () => ['own', 'apart'].every((who) => ticks(scene).slice(frozen).includes(who)));
    await until('its log says so', () => /the agent is frozen[^]*the agent continues after \d+ s/.test(logOf(run)));
    await run.control({ kind: 'kill', reason: '' });
    expect(await run.exit()).toMatchObject({ signal: 'SIGTERM' });
  });

  it('is frozen without a daemon, and ended if its claim is gone', async () => {
    const { scene, lease } = fleetScene();
    await using _ = scene;
    lease.answer = granted(700);
    await scene.daemon.start();
    const run = await scene.start({ ...sh(BUSY), renew_ms: 50, fleet: true });
    await until('it writes', () => ticks(scene).includes('own'));
    await scene.daemon.stop();
    await until('its log says so', () => logOf(run).includes('the agent is frozen'));
    let before = -1;
    await until('nothing is written any more', () => standsStill(scene) && before === (before = ticks(scene).length));
    lease.answer = ended('stale-claim');
    await scene.daemon.start();
    expect(await run.exit()).toMatchObject({ code: null, signal: 'SIGKILL', timed_out: false });
    expect(ticks(scene).length).toBe(before);
    expect(scene.alive()).toEqual([]);
    expect(scene.daemon.reports('exited')).toHaveLength(1);
  });

  it('can be killed while it is frozen, at once', async () => {
    const { scene, lease } = fleetScene();
    await using _ = scene;
    await scene.daemon.start();
    const run = await scene.start({ ...sh(BUSY), renew_ms: 50, fleet: true, kill_after_ms: 600_000 });
    await until('it writes', () => ticks(scene).includes('own'));
    lease.answer = granted(0);
    await untilFrozen(scene);
    expect(await run.control({ kind: 'kill', reason: 'enough' })).toEqual({ ok: true });
    expect(await run.exit()).toMatchObject({ signal: 'SIGKILL' });
    expect(scene.alive()).toEqual([]);
  });

  it('does not use up its timeout while it is frozen, and is not reported silent', async () => {
    const { scene, lease } = fleetScene();
    await using _ = scene;
    lease.answer = granted(400);
    await scene.daemon.start();
    const limits = { timeout_ms: 900, idle_ms: 600, silence_ms: 600, kill_after_ms: 100 };
    const run = await scene.start({ ...sh('exec sleep 60'), renew_ms: 50, fleet: true, ...limits });
    await run.running();
    lease.answer = granted(0);
    await untilFrozen(scene);
    const frozenMs = performance.now();
    await until('its timeout would be over', () => performance.now() - frozenMs > 1200);
    expect(scene.alive()).toHaveLength(1);
    expect(scene.daemon.reports('idle')).toEqual([]);
    lease.answer = granted(60_000);
    expect(await run.exit()).toMatchObject({ timed_out: true });
  });

  it('leaves a process alone that had already stopped', async () => {
    const { scene, lease } = fleetScene();
    await using _ = scene;
    await scene.daemon.start();
    const run = await scene.start({
      ...sh(`sh -c 'echo $$ > stopped; kill -STOP $$; echo woken >> ticks' & ${BUSY}`),
      renew_ms: 50,
      fleet: true,
    });
    await run.running();
    const pid = Number(await until('it has stopped', () => readStopped(scene)));
    lease.answer = granted(0);
    await untilFrozen(scene);
    const before = ticks(scene).length;
    lease.answer = granted(60_000);
    await until('it goes on', () => ticks(scene).length > before);
    expect(readProcStat(pid)?.state).toBe('T');
  });

  it('is not frozen on a single machine, where no other host can have its task', async () => {
    const { scene, lease } = fleetScene();
    await using _ = scene;
    lease.answer = granted(0);
    await scene.daemon.start();
    await scene.start({ ...sh(BUSY), renew_ms: 30 });
    await until('the claim was renewed', () => scene.daemon.of('task_heartbeat').length > 5);
    const before = ticks(scene).length;
    expect(await until('it still writes', () => ticks(scene).length > before + 3)).toBe(true);
  });
});

/** Waits until all processes are frozen; the supervisor sends its heartbeat only after that. */
async function untilFrozen(scene: Scene): Promise<void> {
  await until('it is frozen', () => scene.daemon.of('task_heartbeat').at(-1)?.input['frozen'] === true);
}

function ticks({ cwd }: Scene): string[] {
  const path = join(cwd, 'ticks');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** Reports whether all processes are stopped. A shell in vfork waits for its stopped child in state D. */
function standsStill(scene: Scene): boolean {
  const alive = scene.alive();
  return alive.length > 0 && alive.every((pid) => /T|D/.test(readProcStat(pid)?.state ?? ''));
}

function readStopped({ cwd }: Scene): string | undefined {
  const path = join(cwd, 'stopped');
  const pid = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return pid !== '' && readProcStat(Number(pid))?.state === 'T' ? pid : undefined;
}

function logOf({ files }: Supervised): string {
  return readFileSync(files.log, 'utf8');
}
