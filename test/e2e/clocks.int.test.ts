import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { resultOf, tokenOf } from '../processes/answers.ts';
import { findFaketime } from '../processes/faketime.ts';
import { about, findLedgerFault, readLedger, typesOf } from '../processes/ledger.ts';
import type { Peer } from '../processes/peers.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';

const EXPIRY_MS = 2000;
const RENEWAL_MS = 250;
const SHORT = { BATON_CLAIM_EXPIRY_MS: '2000', BATON_RENEWAL_MS: '250', BATON_TICK_MS: '100' };
const HOUR_MS = 3_600_000;
const JUMPS_MS = [5 * HOUR_MS, -9 * HOUR_MS, 2400 * HOUR_MS];
// The tests mostly wait, so they run concurrently.
const faketime = findFaketime();

// In a fleet the database's clock is used: `npm run faults fleet -- clocks`.
it.skipIf(isPostgres).concurrent(
  'a wall clock that jumps by hours either way costs no live session its claim (injected clock)',
  async () => {
    await using world = new World(SHORT);
    await world.startDaemon({ imports: [join(import.meta.dirname, '../processes/jumping-clock.ts')] });
    expect(await jumpAbout(world, (ms) => world.tellDaemon(ms))).toEqual(JUMPS_MS.map(() => ALIVE));
  },
  60_000,
);

it.runIf(faketime !== undefined && !isPostgres).concurrent(
  'a wall clock that jumps by hours either way costs no live session its claim (libfaketime)',
  async () => {
    await using world = new World(SHORT);
    const file = join(world.folder, 'faketime');
    writeFileSync(file, '+0\n');
    await world.startDaemon({
      env: {
        LD_PRELOAD: faketime ?? '',
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      },
    });
    const jump = (ms: number): void => writeFileSync(file, `${ms < 0 ? '' : '+'}${ms / 1000}\n`);
    expect(await jumpAbout(world, jump)).toEqual(JUMPS_MS.map(() => ALIVE));
  },
  60_000,
);

it.concurrent('a daemon that was suspended for longer than the expiry takes no claim from a live session', async () => {
  await using world = await World.open(SHORT);
  const { token, supervisor, worker } = await claimed(world);
  process.kill(world.daemonPid, 'SIGSTOP');
  await elapsed(1.5 * EXPIRY_MS);
  process.kill(world.daemonPid, 'SIGCONT');
  await renewedOften(supervisor);
  resultOf(await worker.call('task_update', { task_id: 'T1', status: 'in_progress', progress: 50 }, { token }));
  expect(await howTheClaimIs(world)).toEqual(ALIVE);
  await expiresWithout(world, supervisor);
}, 60_000);

it.concurrent('a machine that was suspended for longer than the expiry takes no claim from a live session', async () => {
  await using world = await World.open(SHORT);
  const { token, supervisor, worker } = await claimed(world);
  for (const peer of [supervisor, worker]) peer.freeze();
  process.kill(world.daemonPid, 'SIGSTOP');
  await elapsed(1.5 * EXPIRY_MS);
  // The daemon continues before any holder can renew, which must not cost a claim.
  process.kill(world.daemonPid, 'SIGCONT');
  await world.order('task_get', { task_id: 'T1' });
  for (const peer of [supervisor, worker]) peer.thaw();
  await renewedOften(supervisor);
  resultOf(await worker.call('task_update', { task_id: 'T1', status: 'in_progress', progress: 50 }, { token }));
  expect(await howTheClaimIs(world)).toEqual(ALIVE);
  await expiresWithout(world, supervisor);
}, 60_000);

it.concurrent('a daemon that was away for longer than the expiry takes no claim from a live session', async () => {
  await using world = await World.open(SHORT);
  const { token, supervisor, worker } = await claimed(world);
  await world.endDaemon('SIGKILL');
  await elapsed(1.5 * EXPIRY_MS);
  await world.startDaemon();
  // This request opens the project, so that its claims are watched.
  await world.order('task_get', { task_id: 'T1' });
  await renewedOften(supervisor);
  resultOf(await worker.call('task_update', { task_id: 'T1', status: 'in_progress', progress: 50 }, { token }));
  expect(await howTheClaimIs(world)).toEqual(ALIVE);
  await expiresWithout(world, supervisor);
}, 60_000);

/** The claim's state after each jump. */
async function jumpAbout(world: World, jump: (ms: number) => void): Promise<Held[]> {
  const { supervisor } = await claimed(world);
  const seen: Held[] = [];
  for (const ms of JUMPS_MS) {
    jump(ms);
    await until(`the daemon's clock is off by ${ms} ms`, async () => Math.abs((await offsetMs(world)) - ms) < 60_000);
    await renewedOften(supervisor);
    seen.push(await howTheClaimIs(world));
  }
  // A jump does not save a claim whose holder is gone.
  jump(-9 * HOUR_MS);
  await expiresWithout(world, supervisor);
  const times = (await readLedger(world)).map(({ at }) => Date.parse(at));
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(-8 * HOUR_MS);
  return seen;
}

/** The difference between the daemon's wall clock and this process's, derived from the reported end of the claim. */
async function offsetMs(world: World): Promise<number> {
  const { claim } = await world.order('task_get', { task_id: 'T1' });
  const { expires_at } = claim as { expires_at: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return Date.parse(expires_at) - EXPIRY_MS - Date.now();
}

async function claimed(world: World): Promise<{ token: string; supervisor: Peer; worker: Peer }> {
  await world.order('task_create', { task_id: 'T1', title: 'x' });
  const [worker, supervisor] = [world.peer(), world.peer()];
  await supervisor.ask('ready');
  const token = tokenOf(await worker.call('task_claim', { task_id: 'T1', as: 'ada' }));
  await supervisor.ask('renew', 'T1', token, RENEWAL_MS);
  return { token, supervisor, worker };
}

/** So many renewals that the claim would expire if they had no effect. */
async function renewedOften(supervisor: Peer): Promise<void> {
  const { heard: before } = await supervisor.ask<{ heard: number }>('renewals');
  const enough = before + (1.25 * EXPIRY_MS) / RENEWAL_MS;
  await until('the claim was renewed often', async () => {
    const { heard, refused } = await supervisor.ask<{ heard: number; refused: number }>('renewals');
    return heard >= enough || refused > 0;
  });
}

interface Held {
  readonly epoch: number | undefined;
  readonly ended: readonly unknown[];
}

const ALIVE: Held = { epoch: 1, ended: [] };

async function howTheClaimIs(world: World): Promise<Held> {
  const task = await world.order('task_get', { task_id: 'T1' });
  const { claim, endings } = task as { claim: { epoch: number } | null; endings: unknown[] }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return { epoch: claim?.epoch, ended: endings };
}

/** Checks that claims expire at all, since otherwise the tests above prove nothing. */
async function expiresWithout(world: World, supervisor: Peer): Promise<void> {
  await supervisor.kill();
  await until(
    'the claim has expired',
    async () => (await world.order('task_get', { task_id: 'T1' }))['claim'] === null,
  );
  const types = typesOf(about(await readLedger(world), 'T1')).filter((type) => type !== 'TaskProgressed');
  expect(types).toEqual(['TaskCreated', 'TaskClaimed', 'ClaimExpired']);
  expect(await findLedgerFault(world)).toBeUndefined();
}

/** Waits: only time must pass here, and no event shows that. */
async function elapsed(ms: number): Promise<void> {
  const start = performance.now();
  await until(`${ms} ms have passed`, () => performance.now() - start >= ms);
}
