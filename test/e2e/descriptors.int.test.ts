import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { platform } from 'node:os';
import { expect, it } from 'vitest';
import { readDaemonRecord } from '../../src/api/state-folder.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const LIMIT = 256;
const IDLE = 400;

it.skipIf(platform() !== 'linux')(
  'serves operators and agents under `ulimit -n 256` with 400 idle connections, and logs the reason once',
  async () => {
    await using world = new World();
    await world.startDaemon({ shell: `ulimit -n ${LIMIT}` });
    await world.order('task_create', { task_id: 'T0', title: 'open the project' });
    const record = readDaemonRecord(world.stateDir);
    if (record === undefined) throw new Error('there is no daemon');
    const idle = await Promise.all(
      Array.from({ length: IDLE }, async (_, i) => hold(i % 2 === 0 ? { path: record.socket } : { port: record.port })),
    );
    try {
      await until('the daemon has closed the connections that are too many', async () => countOpen(idle) < LIMIT / 2);
      // Operators over the socket, workers, and git, which needs descriptors too.
      for (let i = 1; i <= 5; i += 1) {
        expect(world.baton(['task', 'add', `T${i}`, '--title', 'x'])).toMatchObject({ code: 0, err: '' });
        expect(await world.workerClient().call('task_claim', { task_id: `T${i}`, as: 'w' })).toMatchObject({
          ok: true,
        });
      }
      expect(world.baton(['reconcile'])).toMatchObject({ code: 0 });
      expect(await world.client().health()).toMatchObject({ ok: true, result: { pid: world.daemonPid } });
    } finally {
      for (const socket of idle) socket.destroy();
    }
    const lines = readFileSync(join(world.stateDir, 'daemon.log'), 'utf8').trim().split('\n');
    expect(lines.filter((line) => line.includes('too many connections'))).toHaveLength(1);
    expect(world.baton(['ledger', 'verify'])).toMatchObject({ code: 0 });
  },
  60_000,
);

it.skipIf(platform() !== 'linux')(
  'survives without a single descriptor, says why, and goes on',
  async () => {
    await using world = new World();
    const hog = join(import.meta.dirname, '../processes/descriptor-hog.ts');
    await world.startDaemon({ shell: `ulimit -n ${LIMIT}`, imports: [hog] });
    await world.order('task_create', { task_id: 'T1', title: 'x' });
    const record = readDaemonRecord(world.stateDir);
    const log = (): string => readFileSync(join(world.stateDir, 'daemon.log'), 'utf8');
    world.tellDaemon('take');
    await until('the log says why', async () => {
      const socket = await hold({ path: record?.socket ?? '' });
      socket.destroy();
      return /EMFILE/.test(log());
    });
    // An open project continues, because its files are open. What needs a new program waits for a descriptor.
    expect(await world.order('task_create', { task_id: 'T2', title: 'x' })).toMatchObject({ task_id: 'T2' });
    const reconciled = world.order('reconcile', {});
    world.tellDaemon('give back');
    expect(await reconciled).toBeDefined();
    expect(await world.client().health()).toMatchObject({ ok: true, result: { pid: world.daemonPid } });
    expect(log().match(/out of descriptors/g)).toHaveLength(1);
    expect(world.baton(['task', 'show', 'T2'])).toMatchObject({ code: 0, err: '' });
  },
  60_000,
);

async function hold(door: { readonly path: string } | { readonly port: number }): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(door);
    const done = (): void => resolve(socket);
    socket.once('connect', done);
    socket.once('error', done);
    socket.on('error', () => undefined);
    socket.resume();
  });
}

function countOpen(sockets: readonly Socket[]): number {
  return sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length;
}
