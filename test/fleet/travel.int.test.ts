import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../postgres/server.ts';
import { tokenOf } from '../processes/answers.ts';
import { until } from '../processes/until.ts';
import { Fleet } from './fleet.ts';
import type { FleetHost } from './host.ts';

const RUNBOOK = `
[agents.coder]
run = "echo agent > agent.txt; git add agent.txt; git commit -qm work; echo left > left.txt; exit 3"
requires = []
on_dead = "fail"

[workers.w]
tasks = ["W*"]
phases = ["IMPLEMENTATION"]
run = { agent = "coder" }
`;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(async () => server.stop());

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' }).trim();
}

/** A person's session on one host, in a separate worktree. */
async function claim({ world }: FleetHost, taskId: string) {
  const claimed = await world.client().forward('task_claim', { task_id: taskId, as: 'ada' });
  if (!claimed.ok) throw new Error(claimed.error.message);
  const session = world.client(tokenOf(Object(claimed.result)));
  const made = await session.forward('task_worktree', {});
  if (!made.ok) throw new Error(made.error.message);
  const { path } = made.result as { path: string };
  return { path, release: async () => session.forward('task_release', { task_id: taskId }) };
}

it('carries commits and uncommitted files from host to host, of people and of agents', async () => {
  const database = new URL(await server.createDatabase()).pathname.slice(1);
  const where = { server: { socketFolder: server.socketFolder, database }, direct: true };
  await using fleet = await Fleet.open({ ...where, hosts: 2, files: { 'baton.toml': RUNBOOK } });
  const [one, two] = [fleet.host(0), fleet.host(1)];
  await one.order('task_create', { task_id: 'A', title: 'By hand' });
  const first = await claim(one, 'A');
  writeFileSync(join(first.path, 'a.txt'), 'one\n');
  git(first.path, 'add', 'a.txt');
  git(first.path, '-c', 'user.name=ada', '-c', 'user.email=a@b', 'commit', '--quiet', '--message', 'one');
  writeFileSync(join(first.path, 'draft.txt'), 'draft\n');
  const sha = git(first.path, 'rev-parse', 'HEAD');
  expect(await first.release()).toMatchObject({ ok: true });
  expect(git(fleet.remote, 'rev-parse', 'refs/baton/A/1')).toBe(sha);
  const entries = await fleet.entries();
  const order = entries.map(({ type }) => type).filter((type) => type === 'WorkPushed' || type === 'ClaimReleased');
  expect(order).toEqual(['WorkPushed', 'ClaimReleased']);
  await two.hasSeen(entries.length);
  const second = await claim(two, 'A');
  expect(git(second.path, 'rev-parse', 'HEAD')).toBe(sha);
  expect(readFileSync(join(second.path, 'draft.txt'), 'utf8')).toBe('draft\n');
  await second.release();
  // The same for an agent that Baton starts on any host.
  await two.order('task_create', { task_id: 'W1', title: 'By an agent' });
  await until('the session has ended', async () => (await fleet.entries()).some(({ type }) => type === 'ClaimFailed'));
  const ends = (await fleet.entries()).filter(({ data }) => data['task_id'] === 'W1').map(({ type }) => type);
  expect(ends.indexOf('WorkPushed')).toBeLessThan(ends.indexOf('ClaimFailed'));
  const pushed = (await fleet.entries()).filter(({ type, data }) => type === 'WorkPushed' && data['task_id'] === 'W1');
  expect(pushed.at(-1)?.data).toMatchObject({ sha: git(fleet.remote, 'rev-parse', 'refs/baton/W1/1') });
  expect(git(fleet.remote, 'show', 'refs/baton/W1/1:agent.txt')).toBe('agent');
  expect(git(fleet.remote, 'show', 'refs/baton/W1/1-wip:left.txt')).toBe('left');
}, 120_000);
