import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProcFile } from '../../src/api/processes.ts';
import { readDaemonRecord, recordDownIntent, stateFiles } from '../../src/api/state-folder.ts';
import { readRestarts } from '../../src/watchdog/restart-record.ts';
import { findProcesses } from '../processes/find-processes.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const QUICK = {
  BATON_RESTART: 'on',
  BATON_RESTART_FIRST_MS: '50',
  BATON_RESTART_LAST_MS: '100',
  BATON_RESTART_TRIES: '3',
};

/** A world whose daemon is restarted after a crash; disposing ends everything that is left. */
async function openWorld(): Promise<World & AsyncDisposable> {
  const world = new World(QUICK);
  const dispose = world[Symbol.asyncDispose].bind(world);
  world[Symbol.asyncDispose] = async () => {
    recordDownIntent(world.stateDir);
    await until('nothing is left', () => everybody(world).every((pid) => !kill(pid)), 10_000);
    await dispose();
  };
  await world.startDaemon();
  return world;
}

const everybody = (world: World): number[] => findProcesses(world.stateDir);
const running = (world: World, program: RegExp): number[] =>
  everybody(world).filter((pid) => program.test(readProcFile(pid, 'cmdline')));
const watchdogs = (world: World): number[] => running(world, /watchdog(?:\/main\.ts|\.cjs)/);
const daemons = (world: World): number[] => running(world, /daemon(?:\/main\.ts|\.cjs)/);

/** Waits until a daemon with another id listens, beside one watchdog. */
async function another(world: World, than: number): Promise<number> {
  return until(
    'another daemon listens',
    () => {
      const pid = readDaemonRecord(world.stateDir)?.pid ?? 0;
      return pid !== than && daemons(world).includes(pid) && watchdogs(world).length === 1 && pid;
    },
    30_000,
  );
}

describe('a daemon that crashed', { timeout: 60_000 }, () => {
  it('is restarted by its watchdog, which it then replaces, until baton down', async () => {
    await using world = await openWorld();
    // From here on the daemon can be found, and may be killed at any moment.
    expect(watchdogs(world)).toHaveLength(1);
    await world.order('task_create', { task_id: 'A', title: 'kept' });
    kill(world.daemonPid);
    const second = await another(world, world.daemonPid);
    // A process that the daemon has just forked looks like the daemon until it runs its own program.
    await until('it is the only one', () => daemons(world).join() === String(second), 10_000);
    expect(await world.order('task_get', { task_id: 'A' })).toMatchObject({ title: 'kept' });
    expect(readRestarts(world.stateDir)).toMatchObject({ in_row: 1, gave_up: false });
    const [first = 0] = watchdogs(world);
    kill(first);
    await until('it has another watchdog', () => watchdogs(world).some((pid) => pid !== first), 10_000);
    kill(second);
    await another(world, second);
    expect(world.baton(['down'])).toMatchObject({ code: 0 });
    // Without daemon and watchdog, nothing can start a daemon.
    await until('both have gone', () => everybody(world).length === 0, 10_000);
    expect(world.baton(['up'])).toMatchObject({ code: 0 });
  });

  it('is not restarted after baton down, and is retried a few times while it cannot start, as status shows', async () => {
    await using world = await openWorld();
    await until('it has a watchdog', () => watchdogs(world).length === 1, 10_000);
    recordDownIntent(world.stateDir);
    kill(world.daemonPid);
    await until('nobody is left', () => everybody(world).length === 0, 10_000);
    expect(world.baton(['up'])).toMatchObject({ code: 0 });
    await until('it has a watchdog', () => watchdogs(world).length === 1, 10_000);
    const { signingKey, log } = stateFiles(world.stateDir);
    const key = readFileSync(signingKey);
    writeFileSync(signingKey, 'damaged');
    kill(readDaemonRecord(world.stateDir)?.pid ?? 0);
    await until('the watchdog gives up', () => everybody(world).length === 0, 30_000);
    expect(readRestarts(world.stateDir)).toMatchObject({ in_row: 4, gave_up: true });
    expect(readFileSync(log, 'utf8')).toContain('"the daemon is not started again"');
    writeFileSync(signingKey, key);
    const status = world.baton(['status', '--json']);
    expect(JSON.parse(status.out)).toMatchObject({ attention: [{ kind: 'daemon' }] });
    expect(world.baton(['down'])).toMatchObject({ code: 0 });
  });
});

it("up --install-service writes a file that it can remove, and does not change another author's", async () => {
  await using world = new World();
  const install = world.baton(['up', '--install-service']);
  const [, path = ''] = /^Wrote (.*)\.\n/.exec(install.out) ?? [];
  expect(install.out).toContain('baton up --uninstall-service');
  expect(readFileSync(path, 'utf8')).toContain(join(world.stateDir, 'daemon.down'));
  expect(world.baton(['up', '--install-service'])).toMatchObject({ code: 0 });
  expect(world.baton(['up', '--uninstall-service']).out).toContain(`Removed ${path}.`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '[Unit]\n');
  const refused = world.baton(['up', '--install-service']);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('was not written by Baton')]);
  expect(world.baton(['up', '--uninstall-service'])).toMatchObject({ code: 1 });
  expect(readFileSync(path, 'utf8')).toBe('[Unit]\n');
});

function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
