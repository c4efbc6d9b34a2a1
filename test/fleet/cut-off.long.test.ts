import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findKept } from '../../src/api/outbox.ts';
import { stateFiles } from '../../src/api/state-folder.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { textOf } from '../../src/protocol/shape/read-unknown.ts';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { until } from '../processes/until.ts';
import { Fleet } from './fleet.ts';

const SHORT = { BATON_CLAIM_EXPIRY_MS: '4000', BATON_RENEWAL_MS: '300', BATON_TICK_MS: '200' };
/** Commits once, writes in a loop, and reports on request. */
const AGENT = `git commit --quiet --allow-empty -m "by $BATON_AGENT_ID"
while :; do
  echo x >> ticks
  if [ -e report ]; then rm report; baton task update "$TASK" --status in_progress --notes "from $BATON_AGENT_ID"; fi
  sleep 0.02
done
`;
const RUNBOOK = `
[agents.ticker]
run = "sh agent.sh"
env = { TASK = "\${task.id}" }
requires = []
on_dead = "fail"

[workers.w]
tasks = ["A*"]
phases = ["IMPLEMENTATION"]
concurrency = 1
run = { agent = "ticker" }
`;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => server.stop());

it("a host that is cut off freezes its agent; the task continues elsewhere, and the agent's late messages and commits do not count", async () => {
  const database = new URL(await server.createDatabase()).pathname.slice(1);
  await using fleet = await Fleet.open({
    server: { socketFolder: server.socketFolder, database },
    hosts: 2,
    env: SHORT,
    files: { 'baton.toml': RUNBOOK, 'agent.sh': AGENT },
  });
  const entries = async (type: string): Promise<Entry[]> =>
    (await fleet.entries()).filter((each) => each.type === type);
  const folderOf = async (nth: number): Promise<string> => {
    const prepared = await until(`session ${nth} is prepared`, async () => (await entries('SessionPrepared'))[nth - 1]);
    return textOf(prepared.data['workspace']);
  };
  await fleet.founder.order('task_create', { task_id: 'A1', title: 'Ticks' });
  const first = await folderOf(1);
  const cut = fleet.hosts.find(({ world }) => first.startsWith(world.folder)) ?? fleet.founder;
  const other = fleet.hosts.find((host) => host !== cut) ?? fleet.founder;
  await until('it works', () => ticks(first) > 4);
  await until('its commit is at the remote', async () => (await entries('WorkPushed')).length > 0);

  cut.link.cut();
  cut.world.write(first, { report: '' });
  const { outbox } = stateFiles(cut.world.stateDir);
  await until('what it reports is kept', () => (findKept(outbox)?.length ?? 0) > 0, 5000);
  const second = await folderOf(2);
  expect(second.startsWith(other.world.folder)).toBe(true);
  await until('the other one works', () => ticks(second) > 4);
  // It has been frozen since before its claim ended.
  const [expired] = await entries('ClaimExpired');
  expect(statSync(join(first, 'ticks')).mtimeMs).toBeLessThan(Date.parse(expired?.at ?? ''));
  const before = ticks(first);
  expect(cut.world.tryGit(first, 'commit', '--allow-empty', '-m', 'late').code).not.toBe(0);
  expect(cut.world.git(first, 'log', '-1', '--format=%s')).toMatch(/^by /);

  cut.link.heal();
  await until('its agent is ended', async () => (await entries('AgentExited')).length === 1);
  expect(ticks(first)).toBe(before);
  await until('its words are refused and kept', () => readdirSync(join(outbox, 'refused')).length > 0);
  expect(readFileSync(join(outbox, 'refused', readdirSync(join(outbox, 'refused'))[0] ?? ''), 'utf8')).toContain(
    'stale',
  );
  const going = ticks(second);
  await until('the other one still works', () => ticks(second) > going);
  const chain = await fleet.entries();
  const of = (type: string): unknown[] => chain.filter((each) => each.type === type).map(({ data }) => data['host']);
  expect(of('TaskClaimed')).toEqual([cut.name, other.name]);
  expect(of('ClaimExpired')).toHaveLength(1);
  expect(of('AgentStarted')).toHaveLength(2);
  expect(chain.filter(({ type }) => type === 'TaskProgressed')).toEqual([]);
  expect(cut.world.git(second, 'log', '--format=%s')).toContain('by ');
}, 120_000);

function ticks(folder: string): number {
  return existsSync(join(folder, 'ticks')) ? readFileSync(join(folder, 'ticks')).length : 0;
}
