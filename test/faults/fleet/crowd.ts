import type { Sent } from '../../processes/mixed-worker.ts';
import { findFault, keysIn } from '../daemon-kill.ts';
import type { Row } from './row.ts';
import { FleetScene } from './scene.ts';

/**
 * Clients of every host send all kinds of commands about tasks, some of them about the same ones, while workers start
 * agents.
 */
export const crowd: Row = {
  key: 'crowd',
  name: '16 clients on each host, 10,000 commands',
  async run({ server, hosts, isSmall }) {
    const [clients, commands, works] = isSmall ? [3, 240, 6] : [16, 10_000, 40];
    await using scene = await FleetScene.open({
      server: await server(),
      hosts,
      namespaces: !isSmall,
      env: LONG,
      direct: true,
    });
    const { world } = scene.host(0);
    for (let n = 0; n < 4; n += 1) await world.order('task_create', { task_id: `shared-${n}`, title: 'For all' });
    await scene.createWork(scene.host(0), works);
    scene.letGo();
    const commit = world.git(world.repository, 'rev-parse', 'HEAD');
    const each = Math.ceil(commands / (clients * hosts));
    const begun = performance.now();
    const said = await Promise.all(
      scene.hosts.flatMap((host, h) =>
        Array.from({ length: clients }, async (_, c) =>
          host.world.peer('mixed-worker').ask<Sent[]>('run', `h${h}-c${c}`, each, commit),
        ),
      ),
    );
    const seconds = (performance.now() - begun) / 1000;
    await scene.until('every task has had its agent', () => scene.marksOf('acknowledged').length >= works, 120_000);
    const entries = await scene.entries();
    const keys = keysIn(entries);
    const sent = said.flat();
    // A starved host may report the database as away; the command may then be recorded or not.
    const isAway = ({ answer }: Sent) => answer?.ok === false && answer.error.code === 'store-unavailable';
    const heard = sent.filter((one) => one.answer !== undefined && !isAway(one));
    return {
      faults: [...heard.flatMap((one) => findFault(one, keys)), ...(await scene.findFaults())],
      figures: `${heard.length} commands in ${seconds.toFixed(0)} s, ${sent.filter(isAway).length} told that the database is away, ${entries.length} entries, ${works} agents`,
    };
  },
};

/** Long enough that no claim expires here. */
const LONG = { AGENT_EXIT_PROTOCOL_ENABLED: 'true', BATON_TICK_MS: '250' };
