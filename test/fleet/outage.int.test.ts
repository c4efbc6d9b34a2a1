import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findKept } from '../../src/api/outbox.ts';
import { stateFiles } from '../../src/api/state-folder.ts';
import { textOf } from '../../src/protocol/shape/read-unknown.ts';
import { isLongLane } from '../lanes.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { tokenOf } from '../processes/answers.ts';
import { until } from '../processes/until.ts';
import { Fleet } from './fleet.ts';

/** Much shorter than the outages below. */
const SHORT = { BATON_CLAIM_EXPIRY_MS: '1500', BATON_RENEWAL_MS: '250', BATON_TICK_MS: '100' };
const RUNBOOK = `
[agents.ticker]
run = "while [ ! -e go ]; do echo x >> ticks; sleep 0.02; done; baton emit agent:signal --agent $BATON_AGENT_ID '{\\"kind\\":\\"complete\\"}'"
requires = []
on_dead = "fail"

[workers.w]
tasks = ["A*"]
phases = ["IMPLEMENTATION"]
run = { agent = "ticker" }
`;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => server.stop());

async function openFleet(): Promise<Fleet> {
  const database = new URL(await server.createDatabase()).pathname.slice(1);
  return Fleet.open({
    server: { socketFolder: server.socketFolder, database },
    hosts: 1,
    env: SHORT,
    files: { 'baton.toml': RUNBOOK },
  });
}

describe('while the database is away', () => {
  it('keeps what sessions send within 2 s, in order, and delivers it once; reads continue and show since when it is away', async () => {
    await using fleet = await openFleet();
    const { world, link } = fleet.founder;
    await world.order('task_create', { task_id: 'P0.1', title: 'By hand' });
    const claimed = world.client();
    const claim = await claimed.forward('task_claim', { task_id: 'P0.1', as: 'ada' });
    if (!claim.ok) throw new Error(claim.error.message);
    const session = world.client(tokenOf(Object(claim.result)));
    const renewing = setInterval(() => void session.forward('task_heartbeat', {}), 100);
    link.cut();
    const took: number[] = [];
    for (const notes of ['first', 'second', 'third']) {
      const before = performance.now();
      const answer = await session.forward('task_update', { task_id: 'P0.1', status: 'in_progress', notes });
      took.push(performance.now() - before);
      expect(answer).toMatchObject({ ok: false, error: { code: 'kept' } });
    }
    expect(Math.max(...took)).toBeLessThan(2000);
    expect(took.at(-1)).toBeLessThan(500);
    // A call that is refused without the database is not kept.
    expect(await session.forward('task_update', { task_id: 'P0.1', status: 'nonsense' })).toMatchObject({
      error: { code: 'bad-request' },
    });
    expect(findKept(stateFiles(world.stateDir).outbox)).toHaveLength(3);
    const status = await world.order('status_get', {});
    expect(status).toMatchObject({ all_clear: false, store: { writable: false, away_since: expect.any(String) } });
    expect(String(status['summary'])).toContain('1 unreachable database');
    const listed = world.baton(['task', 'list']);
    expect([listed.code, listed.out, listed.err]).toEqual([
      0,
      expect.stringContaining('P0.1'),
      expect.stringMatching(/as of \d\d:\d\d:\d\d; the database cannot be reached since 20/),
    ]);
    expect(JSON.parse(world.baton(['task', 'list', '--json']).out)).toMatchObject({
      total: 1,
      store: { away_since: expect.any(String) },
    });
    const person = world.baton(['task', 'add', 'P0.2', '--title', 'Later']);
    expect([person.code, person.err]).toEqual([
      1,
      expect.stringMatching(/PostgreSQL does not answer[^]*hint: Check that/),
    ]);
    expect(world.baton(['task', 'claim', 'P0.1', '--as', 'bob']).code).toBe(1);
    link.heal();
    await until('all is delivered', () => findKept(stateFiles(world.stateDir).outbox)?.length === 0);
    clearInterval(renewing);
    const updates = (await fleet.entries()).filter(({ type }) => type === 'TaskProgressed');
    expect(updates.map(({ data }) => data['notes'])).toEqual(['first', 'second', 'third']);
    expect(await world.order('task_get', { task_id: 'P0.1' })).toMatchObject({ claim: { holder: 'ada', epoch: 1 } });
  });

  it.runIf(isLongLane).each(['is cut off', 'was killed'])(
    'freezes agents when the database %s, and they go on: no claim expired, none was killed',
    async (how) => {
      await using fleet = await openFleet();
      const { world, link } = fleet.founder;
      await world.order('task_create', { task_id: 'A1', title: 'Ticks' });
      const workspace = async (): Promise<string | undefined> => {
        const entry = (await fleet.entries()).find(({ type }) => type === 'SessionPrepared');
        return entry === undefined ? undefined : textOf(entry.data['workspace']);
      };
      const folder = await until('there is a workspace', workspace);
      const ticks = (): number => (existsSync(join(folder, 'ticks')) ? readFileSync(join(folder, 'ticks')).length : 0);
      await until('the agent works', () => ticks() > 4);
      if (how === 'was killed') await server.kill();
      else link.cut();
      const isFrozen = async (): Promise<boolean> => {
        const { attention } = await world.order('status_get', {});
        return JSON.stringify(attention).includes('is frozen until its claim can be renewed');
      };
      await until('it is frozen', isFrozen);
      const before = ticks();
      // Longer than a claim's lifetime.
      const since = performance.now();
      await until('the outage lasts', () => performance.now() - since > 1500);
      expect(ticks()).toBe(before);
      if (how === 'was killed') await server.restart();
      else link.heal();
      await until('the agent goes on', () => ticks() > before + 4);
      world.write(folder, { go: '' });
      const types = async (): Promise<string[]> => (await fleet.entries()).map(({ type }) => type);
      await until('it is done', async () => (await types()).includes('ClaimCompleted'));
      const all = await types();
      expect(all.filter((type) => type === 'TaskClaimed')).toHaveLength(1);
      expect(all.filter((type) => type === 'AgentStarted')).toHaveLength(1);
      expect(all).not.toContain('ClaimExpired');
    },
  );

  it.runIf(isLongLane)(
    'a daemon that starts meanwhile keeps what is sent, and opens the project by itself when the database is back',
    async () => {
      await using fleet = await openFleet();
      const { world, link } = fleet.founder;
      await world.order('task_create', { task_id: 'P0.1', title: 'By hand' });
      const token = tokenOf(await world.order('task_claim', { task_id: 'P0.1', as: 'ada' }));
      link.cut();
      await world.endDaemon('SIGKILL');
      await world.startDaemon();
      const session = world.client(token);
      for (const notes of ['first', 'second']) {
        const before = performance.now();
        const update = { task_id: 'P0.1', status: 'in_progress', notes };
        expect(await session.forward('task_update', update)).toMatchObject({ error: { code: 'kept' } });
        expect(performance.now() - before).toBeLessThan(2000);
      }
      expect(world.baton(['status'])).toMatchObject({ code: 1, err: expect.stringContaining('does not answer') });
      link.heal();
      const notes = async (): Promise<unknown[]> =>
        (await fleet.entries()).filter(({ type }) => type === 'TaskProgressed').map(({ data }) => data['notes']);
      await until('all is delivered, and nobody has called', async () => (await notes()).length === 2);
      expect(await notes()).toEqual(['first', 'second']);
    },
  );
});
