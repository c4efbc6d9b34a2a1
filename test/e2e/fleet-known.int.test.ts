import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findProcessesByMark } from '../../src/effects/processes/supervised.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { Fleet, PROJECT } from '../fleet/fleet.ts';
import type { FleetHost } from '../fleet/host.ts';
import { findBroken } from '../fleet/invariants.ts';
import { findNamespaceObstacle } from '../fleet/process-namespace.ts';
import { findChainFault } from '../fleet/read-chain.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { until } from '../processes/until.ts';
import { inLongLane } from '../lanes.ts';

const EXPIRY_MS = 2500;
const RUNBOOK = `
exit_protocol = true
sandbox = "none"
[agents.a]
run = "scripted hold.yaml"
on_dead = "fail"
[notify]
desktop = false
terminal = false
`;

/**
 * Known problems of two daemons on one PostgreSQL before fleets existed, each once. `npm run faults fleet` has the long
 * versions.
 */
describe('two hosts on one PostgreSQL', { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let fleet: Fleet;
  let one: FleetHost;
  let other: FleetHost;

  beforeAll(async () => {
    server = await startPostgres();
    const database = new URL(await server.createDatabase()).pathname.slice(1);
    fleet = await Fleet.open({
      server: { socketFolder: server.socketFolder, database },
      hosts: 2,
      direct: true,
      // Gives each host its own process ids, like another machine. Without root both hosts see the same ones.
      namespaces: findNamespaceObstacle() === undefined,
      files: { 'baton.toml': RUNBOOK, 'hold.yaml': '- run: sleep 60\n- stop\n' },
      env: { BATON_TICK_MS: '100', BATON_RENEWAL_MS: '250', BATON_CLAIM_EXPIRY_MS: String(EXPIRY_MS) },
    });
    [one, other] = [fleet.host(0), fleet.host(1)];
  });

  afterAll(async () => {
    await fleet[Symbol.asyncDispose]();
    await server.stop();
  });

  const of = async (type: string): Promise<Entry[]> => (await fleet.entries()).filter((entry) => entry.type === type);

  it('two clones of a repository are one project', async () => {
    await one.order('task_create', { task_id: 'C1', title: 'x' });
    await other.hasSeen((await fleet.entries()).length);
    expect(await other.order('task_get', { task_id: 'C1' })).toMatchObject({ id: 'C1' });
    expect([one.world.project, other.world.project]).toEqual([PROJECT, PROJECT]);
  });

  it('each host keeps a copy of the ledger outside of PostgreSQL', () => {
    expect([one, other].map(({ world }) => existsSync(world.ledgerFile))).toEqual([true, true]);
  });

  it('no task is granted twice, however many callers ask at both hosts', async () => {
    const ids = Array.from({ length: 25 }, (_, n) => `R${n}`);
    await Promise.all(ids.map(async (id) => one.order('task_create', { task_id: id, title: id })));
    const [a, b] = [one.world.workerClient(), other.world.workerClient()];
    await other.hasSeen((await fleet.entries()).length);
    const answers = await Promise.all(
      ids.flatMap((task_id) => [a, b].map(async (client) => client.call('task_claim', { task_id, as: 'w' }))),
    );
    expect(answers.filter(({ ok }) => ok)).toHaveLength(ids.length);
    expect(await of('TaskClaimed')).toHaveLength(ids.length);
    expect(findBroken(await fleet.entries())).toEqual([]);
    expect(await findChainFault(fleet.url, PROJECT)).toBeUndefined();
  });

  inLongLane(() => {
    it('a claim lasts while its holder renews it at its own host, and expires otherwise', async () => {
      await one.order('task_create', { task_id: 'L1', title: 'x' });
      await other.hasSeen((await fleet.entries()).length);
      const client = other.world.workerClient();
      const claimed = await client.call('task_claim', { task_id: 'L1', as: 'w' });
      if (!claimed.ok) throw new Error(claimed.error.message);
      const { token } = claimed.result as { token: string }; // oxlint-disable-line typescript/no-unsafe-type-assertion
      for (const begun = performance.now(); performance.now() - begun < 1.4 * EXPIRY_MS; await delay(250))
        expect(await client.call('task_heartbeat', { task_id: 'L1' }, { token })).toMatchObject({ ok: true });
      const expired = async (): Promise<boolean> =>
        (await of('ClaimExpired')).some(({ data }) => data['task_id'] === 'L1');
      expect(await expired()).toBe(false);
      await until('it ends', expired, 20_000);
    });
  });

  it('a request starts one agent, and the other host, restarted, does not declare it dead', async () => {
    const { id } = await one.order<{ id: string }>('run_start', { name: 'a', args: [] });
    const isRunning = (): boolean => findProcessesByMark({ name: 'BATON_AGENT_ID', value: id }).length > 0;
    await until('it runs', async () => isRunning() && (await of('AgentStarted')).length > 0);
    await other.world.endDaemon('SIGKILL');
    await other.world.startDaemon();
    await other.hasSeen((await fleet.entries()).length);
    await until('the other host has reported again', async () => {
      const { fleet: shown } = await other.order<{ fleet: { hosts: { name: string; silent_ms: number }[] } }>(
        'fleet_show',
      );
      return shown.hosts.some(({ name, silent_ms }) => name === other.name && silent_ms < 1000);
    });
    await other.order('reconcile', {});
    expect(await of('AgentStarted')).toHaveLength(1);
    expect(await of('AgentExited')).toEqual([]);
    expect(isRunning()).toBe(true);
    await one.order('agent_kill', { id });
    await until('it is gone', () => !isRunning());
  });

  it('the recorded rules apply, not those of the host that was started last', async () => {
    const before = await of('RunbookAdopted');
    expect(before.length).toBeGreaterThan(0);
    writeFileSync(join(other.world.repository, 'baton.toml'), `project = "${PROJECT}"\n[limits]\nagents = 1\n`);
    await other.world.endDaemon('SIGKILL');
    await other.world.startDaemon();
    await other.order('task_create', { task_id: 'N1', title: 'x' });
    await one.order('task_create', { task_id: 'N2', title: 'x' });
    expect(await of('RunbookAdopted')).toEqual(before);
  });
});
