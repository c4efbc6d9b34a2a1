import { join } from 'node:path';
import type { Entry } from '../../../src/ledger/format/entry.ts';
import { type DebianServer, type DebianServers, hasDebianPostgres, startDebianServers } from '../../postgres/debian.ts';
import { Load } from './load.ts';
import type { Outcome, Row } from './row.ts';
import { FleetScene } from './scene.ts';

/** Runs a test with Debian's servers, and removes them afterwards. */
export async function withDebian(run: (servers: DebianServers) => Promise<Outcome>): Promise<Outcome> {
  const servers = await startDebianServers();
  try {
    return await run(servers);
  } finally {
    await servers.stop();
  }
}

export function findDebianObstacle(): string | undefined {
  return hasDebianPostgres ? undefined : 'PostgreSQL 15 of Debian is missing: npm run test:setup';
}

export function socketFolderOf({ url }: DebianServer): string {
  return decodeURIComponent(new URL(url).hostname);
}

/** The primary dies under load; its standby, which received every commit before it was acknowledged, takes over. */
export const failoverSynchronous: Row = {
  key: 'failover-synchronous',
  name: 'failover, synchronous',
  findObstacle: findDebianObstacle,
  run: async ({ hosts }) =>
    withDebian(async (servers) => {
      const primary = await servers.create('primary');
      const standby = await primary.makeStandby('standby');
      await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await primary.query('SELECT pg_reload_conf()');
      await using scene = await open(primary, hosts);
      const load = new Load(scene.hosts, 'L');
      await scene.until('much is acknowledged', () => load.acknowledged.length >= 100);
      await primary.kill();
      await standby.promote();
      scene.fleet.lead(socketFolderOf(standby));
      const before = load.acknowledged.length;
      await scene.until('it goes on', () => load.acknowledged.length >= before + 50);
      await load.stop();
      const made = madeIn(await scene.entries());
      const lost = load.acknowledged.filter((id) => !made.has(id));
      return {
        faults: [...lost.map((id) => `${id} was acknowledged, and is lost`), ...(await scene.findFaults())],
        figures: `${load.acknowledged.length} acknowledged, ${(load.longestGapMs / 1000).toFixed(1)} s without writing`,
      };
    }),
};

/**
 * The standby lacks the last commits: hosts detect that before anything is written, and the longest replica restores
 * them.
 */
export const failoverAsynchronous: Row = {
  key: 'failover-asynchronous',
  name: 'failover, asynchronous',
  findObstacle: findDebianObstacle,
  run: async ({ hosts }) =>
    withDebian(async (servers) => {
      const primary = await servers.create('primary');
      const standby = await primary.makeStandby('standby');
      await using scene = await open(primary, hosts);
      const load = new Load(scene.hosts, 'L');
      await scene.until('much is acknowledged', () => load.acknowledged.length >= 60);
      // From here on the standby receives nothing.
      await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
      await standby.query('SELECT pg_reload_conf()');
      const isCut = async () => (await standby.query('SELECT 1 FROM pg_stat_wal_receiver')).length === 0;
      await scene.until('it receives nothing', isCut);
      const reached = load.acknowledged.length;
      await scene.until('the standby lacks some', () => load.acknowledged.length >= reached + 50);
      await load.stop();
      const before = await scene.entries();
      for (const host of scene.hosts) await host.hasSeen(before.length);
      await primary.kill();
      await standby.promote();
      scene.fleet.lead(socketFolderOf(standby));
      return await completed(scene, before, load.acknowledged);
    }),
};

/** An older dump in another server is equivalent to a standby that lacks the last commits. */
export const restoredDump: Row = {
  key: 'restored-dump',
  name: "yesterday's dump restored",
  findObstacle: findDebianObstacle,
  run: async ({ hosts }) =>
    withDebian(async (servers) => {
      const server = await servers.create('server');
      const other = await servers.create('other');
      await using scene = await open(server, hosts);
      const load = new Load(scene.hosts, 'L');
      await scene.until('much is acknowledged', () => load.acknowledged.length >= 60);
      const dump = join(servers.folder, 'dump');
      await server.dump(dump);
      const dumped = load.acknowledged.length;
      await scene.until('the dump lacks some', () => load.acknowledged.length >= dumped + 50);
      await load.stop();
      const before = await scene.entries();
      for (const host of scene.hosts) await host.hasSeen(before.length);
      await server.kill();
      await other.restore(dump);
      scene.fleet.lead(socketFolderOf(other));
      return await completed(scene, before, load.acknowledged);
    }),
};

async function open(server: DebianServer, hosts: number): Promise<FleetScene> {
  const place = { socketFolder: socketFolderOf(server), database: 'postgres' };
  return FleetScene.open({ server: place, hosts, namespaces: true, env: { BATON_TICK_MS: '250' } });
}

/** Checks that the chain is restored byte for byte before any new entry. */
async function completed(
  scene: FleetScene,
  before: readonly Entry[],
  acknowledged: readonly string[],
): Promise<Outcome> {
  const begun = performance.now();
  const shorter = (await scene.entries()).length;
  await scene.until('the tail is back', async () => (await scene.entries()).length >= before.length);
  const backMs = performance.now() - begun;
  const load = new Load(scene.hosts, 'M');
  await scene.until('it goes on', () => load.acknowledged.length >= 20);
  await load.stop();
  const after = await scene.entries();
  const changed = before.findIndex((entry, i) => JSON.stringify(entry) !== JSON.stringify(after[i]));
  const made = madeIn(after);
  const lost = [...acknowledged, ...load.acknowledged].filter((id) => !made.has(id));
  return {
    faults: [
      ...(shorter < before.length ? [] : ['the server lacked nothing: this proves nothing']),
      ...(changed < 0 ? [] : [`entry ${changed + 1} is another one`]),
      ...lost.map((id) => `${id} was acknowledged, and is lost`),
      ...(await scene.findFaults()),
    ],
    figures: `${before.length - shorter} entries put back after ${(backMs / 1000).toFixed(1)} s`,
  };
}

function madeIn(entries: readonly Entry[]): Set<unknown> {
  return new Set(entries.flatMap(({ type, data }) => (type === 'TaskCreated' ? [data['task_id']] : [])));
}
