import { expect, it } from 'vitest';
import { healthAfter, WRITABLE, type StoreHealth } from '../../protocol/resource-faults.ts';
import { StoreWatch } from './storage-health.ts';

const FULL = healthAfter(WRITABLE, { message: 'no room', hint: 'Make room.' }, '2026-01-01T00:00:00.000Z');

/** A store whose disk is full until the test frees space. */
class Disk {
  health: StoreHealth = WRITABLE;
  hasRoom = true;
  readonly probes: number[] = [];
  nowMs = 0;

  readonly probe = async (): Promise<StoreHealth> => {
    this.probes.push(this.nowMs);
    this.health = this.hasRoom ? WRITABLE : FULL;
    return this.health;
  };
}

async function tick(watch: StoreWatch, disk: Disk, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i += 1) {
    watch.probeIfDue((disk.nowMs += 1000));
    await Promise.resolve();
    await Promise.resolve();
  }
}

it('reports once that a store cannot be written, and once that it can again', async () => {
  const disk = new Disk();
  const reported: StoreHealth[] = [];
  const watch = new StoreWatch(disk, (health) => reported.push(health));
  await tick(watch, disk, 5);
  expect([reported, disk.probes]).toEqual([[], []]);
  [disk.health, disk.hasRoom] = [FULL, false];
  await tick(watch, disk, 20);
  expect(reported).toEqual([FULL]);
  disk.hasRoom = true;
  await tick(watch, disk, 60);
  expect(reported).toEqual([FULL, WRITABLE]);
});

it('probes less and less often, and at least twice a minute', async () => {
  const disk = new Disk();
  const watch = new StoreWatch(disk);
  [disk.health, disk.hasRoom] = [FULL, false];
  await tick(watch, disk, 200);
  const gaps = disk.probes.slice(1).map((at, i) => at - (disk.probes[i] ?? 0));
  expect(gaps.slice(0, 5)).toEqual([1000, 2000, 4000, 8000, 16_000]);
  expect(new Set(gaps.slice(5))).toEqual(new Set([30_000]));
});

it('notices a write that succeeded between two probes', async () => {
  const disk = new Disk();
  const reported: StoreHealth[] = [];
  const watch = new StoreWatch(disk, (health) => reported.push(health));
  disk.health = FULL;
  disk.hasRoom = false;
  await tick(watch, disk, 40);
  disk.health = WRITABLE;
  await tick(watch, disk, 1);
  expect(reported.at(-1)).toEqual(WRITABLE);
});
