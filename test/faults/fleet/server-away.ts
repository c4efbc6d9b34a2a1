import { startPostgres, type PostgresServer } from '../../postgres/server.ts';
import { expiredOf } from './claims.ts';
import type { Row } from './row.ts';
import { FleetScene, TIMES } from './scene.ts';

/** The database is stopped, killed, and away for longer than a claim's lifetime: nothing is lost. */
export const serverAway: Row = {
  key: 'server-away',
  name: 'PostgreSQL stopped, killed, away longer than a claim lasts',
  async run({ hosts, isSmall }) {
    const server = await startPostgres({ settings: { max_connections: '200' } });
    try {
      return await run(server, hosts, isSmall);
    } finally {
      await server.stop();
    }
  },
};

async function run(server: PostgresServer, hosts: number, isSmall: boolean): ReturnType<Row['run']> {
  const database = new URL(await server.createDatabase()).pathname.slice(1);
  const place = { socketFolder: server.socketFolder, database };
  await using scene = await FleetScene.open({ server: place, hosts, namespaces: !isSmall });
  const ids = await scene.createWork(scene.host(0), 2 * hosts);
  await scene.until('every task has an agent', () => scene.marksOf('committed').length >= ids.length);
  const outages = isSmall
    ? [1.2 * TIMES.expiryMs]
    : [0, 0.3 * TIMES.expiryMs, 1.5 * TIMES.expiryMs, 2.5 * TIMES.expiryMs];
  const back: number[] = [];
  for (const ms of outages) {
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, ms));
    await server.restart();
    const begun = performance.now();
    const size = (await scene.entries()).length;
    for (const host of scene.hosts) {
      await scene.until(`${host.name} writes again`, async () => {
        const made = await host.world.client().call('task_create', { task_id: `after-${back.length}`, title: 'x' });
        return made.ok || made.error.code === 'already-exists' || made.error.code === 'task-exists';
      });
      await host.hasSeen(size);
      back.push((performance.now() - begun) / 1000);
    }
    // A lost agent would be detected within one expiry.
    const beats = new Map(scene.marksOf('beat').map((mark) => [mark.agent, mark.ms]));
    await scene.until('every agent goes on', () =>
      scene.marksOf('beat').every(({ agent }) => latest(scene, agent) > (beats.get(agent) ?? 0)),
    );
  }
  await new Promise((resolve) => setTimeout(resolve, TIMES.expiryMs));
  scene.letGo();
  await scene.handedOn(ids);
  const entries = await scene.entries();
  const epochs = entries.filter(({ type, data }) => type === 'TaskClaimed' && Number(data['epoch']) > 1);
  return {
    faults: [
      ...expiredOf(entries).map(({ taskId }) => `the claim on ${taskId} ended although only the database was away`),
      ...epochs.map(({ data }) => `${String(data['task_id'])} was granted again`), // oxlint-disable-line typescript/no-base-to-string
      ...(scene.marksOf('start').length === ids.length ? [] : [`${scene.marksOf('start').length} agents ran`]),
      ...(await scene.findFaults()),
    ],
    figures: `${outages.length} outages, every host back after ${Math.max(...back).toFixed(1)} s at most`,
  };
}

function latest(scene: FleetScene, agent: string): number {
  return Math.max(0, ...scene.marksOf('beat').flatMap((mark) => (mark.agent === agent ? [mark.ms] : [])));
}
