import { join } from 'node:path';
import { findDebianObstacle, socketFolderOf, withDebian } from './failover.ts';
import type { FleetHost } from '../../fleet/host.ts';
import { Load } from './load.ts';
import type { Row } from './row.ts';
import { FleetScene } from './scene.ts';

/**
 * Half of the hosts continue with the promoted standby, half with the primary, which then dies: all return to the
 * standby.
 */
export const diverged: Row = {
  key: 'diverged',
  name: 'two ledgers diverged',
  findObstacle: findDebianObstacle,
  run: async ({ hosts }) =>
    withDebian(async (servers) => {
      const primary = await servers.create('primary');
      const standby = await primary.makeStandby('standby');
      const place = { socketFolder: socketFolderOf(primary), database: 'postgres' };
      const env = { BATON_TICK_MS: '250' };
      await using scene = await FleetScene.open({ server: place, hosts, namespaces: true, env });
      const load = new Load(scene.hosts, 'L');
      await scene.until('much is acknowledged', () => load.acknowledged.length >= 40);
      await load.stop();
      const common = await scene.entries();
      for (const host of scene.hosts) await host.hasSeen(common.length);
      await scene.until('the standby has all of it', async () => {
        const rows = await standby.query('SELECT max(seq) AS size FROM baton.entry');
        return Number(rows[0]?.['size']) >= common.length;
      });
      await standby.promote();
      const [left, right] = [scene.hosts.slice(0, hosts / 2), scene.hosts.slice(hosts / 2)];
      for (const { link } of right) link.lead(join(socketFolderOf(standby), '.s.PGSQL.5432'));
      const [one, other] = [new Load(left, 'A'), new Load(right, 'B')];
      await scene.until('both go on', () => one.acknowledged.length >= 10 && other.acknowledged.length >= 10, 90_000);
      await Promise.all([one.stop(), other.stop()]);
      await primary.kill();
      scene.fleet.lead(socketFolderOf(standby));
      // The other hosts detect the fork with their next report.
      const refused = await scene.until('all stop', async () => {
        const codes = await tryAll(scene.hosts);
        return codes.every((code) => code !== 'ok' && /fork|diverge|differ/.test(code)) && codes;
      });
      const stands = await scene.entries();
      await tryAll(scene.hosts);
      const unchanged = await scene.entries();
      const compared = await scene.host(0).world.type(['store', 'compare']);
      const difference = `${compared.out}${compared.err}`;
      const named = new RegExp(`\\b${common.length + 1}\\b`).test(difference);
      const accepted = await acceptOn(left);
      const again = new Load(scene.hosts, 'C');
      await scene.until('they go on', () => again.acknowledged.length >= 20, 60_000).catch(() => undefined);
      await again.stop();
      const after = await scene.entries();
      return {
        faults: [
          ...(unchanged.length === stands.length ? [] : ['a host wrote although the ledgers differ']),
          ...(named ? [] : [`store compare does not name entry ${common.length + 1}: ${difference}`]),
          ...accepted,
          ...(again.acknowledged.length >= 20 ? [] : [`they do not go on: ${[...again.failed.keys()].join()}`]),
          ...(after.filter(({ type }) => type === 'StoreAccepted').length === left.length
            ? []
            : ['not every acceptance is on record']),
          ...(await scene.findFaults()),
        ],
        figures: `${refused.length} hosts stopped; the first difference is entry ${common.length + 1}`,
      };
    }),
};

async function tryAll(hosts: readonly FleetHost[]): Promise<string[]> {
  tries += 1;
  return Promise.all(
    hosts.map(async (host) => {
      const made = await host.world.client().call('task_create', { task_id: `late-${host.name}-${tries}`, title: 'x' });
      return made.ok ? 'ok' : `${made.error.code} ${made.error.message}`;
    }),
  );
}

let tries = 0;

/** Each host accepts for itself. While another replica differs, nothing is recorded; the second round records it. */
async function acceptOn(hosts: readonly FleetHost[]): Promise<string[]> {
  const refused = new Map<FleetHost, string>();
  const commands = new Map<FleetHost, string[]>();
  for (const host of hosts) {
    const asked = await host.world.type(['store', 'accept']);
    const words = /baton (store accept \d+ [0-9a-f]+)/.exec(`${asked.out}${asked.err}`)?.[1]?.split(' ');
    if (words === undefined) return [`store accept on ${host.name}: ${asked.out}${asked.err}`];
    commands.set(host, words);
    await host.world.type(['down']);
  }
  for (const host of [...hosts, ...hosts.slice(0, -1)]) {
    const { code, out, err } = await host.world.type(commands.get(host) ?? []);
    if (code === 0) refused.delete(host);
    else refused.set(host, `${out}${err}`);
  }
  return [...refused].map(([{ name }, words]) => `store accept on ${name}: ${words}`);
}
