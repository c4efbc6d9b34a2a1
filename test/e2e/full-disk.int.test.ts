import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SmallDisk } from '../processes/small-disk.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';

/** Mounting needs root. `sqlite-disk.int.test.ts` and `break-store.ts` limit the size of files instead. */
const probe = SmallDisk.find(1);
probe?.[Symbol.dispose]();

it.skipIf(probe === undefined || isPostgres)(
  'reports a full disk with its cause and fix, and notices by itself that there is room',
  async () => {
    await using world = new World({ BATON_TICK_MS: '50' });
    mkdirSync(world.stateDir, { mode: 0o700 });
    using disk = SmallDisk.find(16, world.stateDir);
    await world.startDaemon();
    await world.order('task_create', { task_id: 'T1', title: 'x' });
    // Leaves room for a small write, which must not be mistaken for room for the refused one.
    disk?.fill(16_384);
    const client = world.client();
    let n = 1;
    const refused = await until('nothing can be recorded', async () => {
      const answer = await client.call('task_create', {
        task_id: `T${(n += 1)}`,
        title: 'y',
        description: 'y'.repeat(16_000),
      });
      return !answer.ok && answer;
    });
    expect(refused).toMatchObject({
      error: {
        code: 'store-unavailable',
        message: expect.stringContaining('no space left to write'),
        hint: expect.stringContaining('Free space'),
      },
    });
    const store = {
      writable: false,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      reason: expect.stringContaining('no space left to write'),
      hint: expect.stringContaining('Free space'),
    };
    expect(await world.order('status_get', {})).toMatchObject({ store });
    expect(await client.health()).toMatchObject({ result: { writable: false, stores: [store] } });
    // Typed as a command: a new connection works on a full disk too.
    const typed = world.baton(['status', '--json']);
    expect(typed).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(typed.out)).toMatchObject({ store });
    disk?.makeRoom();
    await until('the daemon notices that there is room', async () => {
      const health = await client.health();
      return health.ok && Reflect.get(Object(health.result), 'writable') === true;
    });
    expect(readFileSync(join(world.stateDir, 'daemon.log'), 'utf8')).toContain('the store can be written again');
    expect(await client.call('task_create', { task_id: 'after', title: 'z' })).toMatchObject({ ok: true });
    expect(world.baton(['ledger', 'verify'])).toMatchObject({ code: 0 });
  },
  60_000,
);
