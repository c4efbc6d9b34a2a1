import { Client as Database } from 'pg';
import { Fleet, PROJECT } from '../../test/fleet/fleet.ts';
import type { PostgresServer } from '../../test/postgres/server.ts';
import { PHASES } from '../handoff/baton.ts';
import { clientOf, type BatonPlace } from './baton-agents.ts';
import { runCrowd, type Crowd, type CrowdPlan } from './crowd.ts';

/** `behindMs`: how long the slowest host took to see an entry. */
export type BatonCrowd = Crowd & { readonly behindMs: number };

export async function runBatonCrowd(server: PostgresServer, plan: CrowdPlan): Promise<BatonCrowd> {
  const { pathname } = new URL(await server.createDatabase());
  const place = { socketFolder: server.socketFolder, database: pathname.slice(1) };
  const env = { AGENT_EXIT_PROTOCOL_ENABLED: 'true' };
  await using fleet = await Fleet.open({ server: place, hosts: plan.hosts, direct: true, agents: plan.agents, env });
  const { world } = fleet.founder;
  const commit = world.git(world.repository, 'rev-parse', 'HEAD');
  const hosts = fleet.hosts.map(({ name, world: { stateDir, repository } }): BatonPlace => ({
    name,
    stateDir,
    repository,
    commit,
  }));
  await createChains(hosts, plan);
  const watch = new AbortController();
  const watched = watchLag(fleet.url, hosts, watch.signal);
  const crowd = await runCrowd(
    'baton',
    plan,
    hosts.map((host) => JSON.stringify(host)),
  );
  watch.abort();
  return { ...crowd, behindMs: await watched };
}

/** Creates chains of tasks, each after the one before: one chain per baton, long enough for the run. */
async function createChains([first]: readonly BatonPlace[], { batons, ms, workMs }: CrowdPlan): Promise<void> {
  if (first === undefined) return;
  const client = clientOf(first);
  // Longer than average, because some agents are often quick.
  const tasks = Math.ceil((3 * ms) / workMs / PHASES.length) + 2;
  for (let n = 0; n < tasks; n += 1)
    await Promise.all(
      Array.from({ length: batons }, async (_, chain) => {
        const after = n === 0 ? {} : { after: [`C${chain}-${n - 1}`] };
        const task = { task_id: `C${chain}-${n}`, title: 'a task', phase: PHASES[0], ...after };
        const made = await client.call('task_create', task);
        if (!made.ok) throw new Error(made.error.message);
      }),
    );
  client.close();
}

/** Reads the ledger's head, and measures how long each host takes to reach it. */
async function watchLag(url: string, hosts: readonly BatonPlace[], signal: AbortSignal): Promise<number> {
  const database = new Database({ connectionString: url });
  await database.connect();
  const clients = hosts.map((host) => clientOf(host));
  let worst = 0;
  while (!signal.aborted) {
    const { rows } = await database.query<{ size: string }>(
      'SELECT max(seq) AS size FROM baton.entry WHERE project = (SELECT id FROM baton.project WHERE name = $1)',
      [PROJECT],
    );
    const size = Number(rows[0]?.size);
    const begun = performance.now();
    const lags = await Promise.all(clients.map(async (client) => lagOf(client, size, begun)));
    worst = Math.max(worst, ...lags);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  for (const client of clients) client.close();
  await database.end();
  return worst;
}

async function lagOf(client: ReturnType<typeof clientOf>, size: number, begun: number): Promise<number> {
  for (;;) {
    const asked = performance.now();
    const known = await client.call('ledger_head', {});
    if (!known.ok) throw new Error(known.error.message);
    if (known.result.size >= size) return asked - begun;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const PAUSE_MS = 2000;
