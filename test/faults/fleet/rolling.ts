import type { FleetHost } from '../../fleet/host.ts';
import { Load } from './load.ts';
import { makeNextRelease } from './next-release.ts';
import type { Row } from './row.ts';
import { FleetScene } from './scene.ts';

/** The maximum time without an acknowledgement from any host. */
const GAP_MS = 5000;

/** One host after the other gets the next release, under load; one of them is downgraded while that is possible. */
export const rolling: Row = {
  key: 'rolling',
  name: 'previous release beside this one, rolling, under load',
  async run({ server, hosts }) {
    using next = makeNextRelease();
    const env = { BATON_TICK_MS: '250' };
    await using scene = await FleetScene.open({ server: await server(), hosts, namespaces: true, env });
    for (const id of ['B1', 'B2']) {
      await scene.host(0).order('task_create', { task_id: id, title: 'x' });
      await scene.host(0).order('task_update', { task_id: id, status: 'blocked', notes: 'no key' });
    }
    const load = new Load(scene.hosts, 'L');
    const change = async (host: FleetHost, release?: string): Promise<void> => {
      await host.world.endDaemon('SIGTERM');
      await host.world.startDaemon(release === undefined ? {} : { release });
      const before = load.acknowledged.length;
      await scene.until('everybody goes on', () => load.acknowledged.length >= before + 4 * hosts);
    };
    const [first, ...others] = scene.hosts;
    if (first === undefined) throw new Error('there is no host');
    // The fleet was founded at this release's level.
    const levels = await scene.count('LevelRaised');
    await change(first, next.folder);
    const early = await first.world.client().call('task_unblock', { task_id: 'B1', reason: 'here it is' });
    const beforeRise = (await scene.entries()).length;
    // Downgrades a host, which is possible until the level rises.
    await change(first);
    await change(first, next.folder);
    for (const host of others) await change(host, next.folder);
    await scene.until('the level rises', async () => (await scene.count('LevelRaised')) > levels);
    await scene.until('the new type is recorded', async () => {
      await first.world.client().call('task_unblock', { task_id: 'B2', reason: 'here it is' });
      return (await scene.count('TaskNoted')) > 0;
    });
    await load.stop();
    const [last] = others;
    // The previous release stops deciding, and reports why.
    await last?.world.endDaemon('SIGTERM');
    await last?.world.startDaemon();
    const late = await last?.world.client().call('task_create', { task_id: 'late', title: 'x' });
    const entries = await scene.entries();
    const made = new Set(entries.flatMap(({ type, data }) => (type === 'TaskCreated' ? [data['task_id']] : [])));
    return {
      faults: [
        ...(early.ok ? ['a type that not every host knows was recorded'] : []),
        ...entries
          .slice(0, beforeRise)
          .flatMap(({ type }) => (type === 'TaskNoted' ? ['TaskNoted came too early'] : [])),
        ...(late === undefined || late.ok ? ['a release that does not know all entries decided'] : []),
        ...load.acknowledged.filter((id) => !made.has(id)).map((id) => `${id} was acknowledged, and is lost`),
        ...(load.longestGapMs > GAP_MS ? [`nobody could write for ${Math.round(load.longestGapMs)} ms`] : []),
        ...(await scene.findFaults()).filter((fault) => !fault.includes('TaskNoted')),
      ],
      figures:
        `${load.acknowledged.length} acknowledged, ${(load.longestGapMs / 1000).toFixed(1)} s at most without writing; ` +
        `too early: ${early.ok ? 'ok' : early.error.code}; too old: ${late?.ok === false ? late.error.code : 'ok'}`,
    };
  },
};
