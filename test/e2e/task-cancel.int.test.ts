import { expect, it } from 'vitest';
import { refusalOf, tokenOf } from '../processes/answers.ts';
import { World } from '../processes/world.ts';

it('a cancelled task: its holder loses it, its dependants wait, and it can be reinstated', async () => {
  await using world = await World.open();
  await world.order('task_create', { task_id: 'T1', title: 'x' });
  await world.order('task_create', { task_id: 'T2', title: 'y', after: ['T1'] });
  const session = world.client(tokenOf(await world.order('task_claim', { task_id: 'T1', as: 'ada' })));
  expect(world.baton(['task', 'cancel', 'T1'])).toMatchObject({ code: 2 });
  const cancelled = world.baton(['task', 'cancel', 'T1', '--reason', 'nobody wants it']);
  expect(cancelled).toEqual({ code: 0, out: 'Cancelled T1.\n', err: '' });
  const late = await session.call('task_update', { task_id: 'T1', status: 'in_progress' });
  expect(refusalOf(late)).toMatch(/^claim-ended|^stale/);
  expect(await world.order('task_get', { task_id: 'T1' })).toMatchObject({
    phase: 'BLOCKED',
    status: 'cancelled',
    claim: null,
  });
  expect(await world.order('task_get', { task_id: 'T2' })).toMatchObject({ claimable: false });
  expect(world.baton(['task', 'cancel', 'T1', '--reason', 'again'])).toMatchObject({ code: 0 });
  const listed = await world.order('task_list', { status: 'cancelled' });
  expect(listed).toMatchObject({ total: 1, tasks: [{ id: 'T1' }] });
  const status = await world.order('status_get', {});
  expect(status).toMatchObject({
    tasks: { cancelled: 1, blocked: 0, todo: 1 },
    attention: [{ kind: 'cancelled', task_id: 'T1', context: 'cancelled: nobody wants it; waiting: T2' }],
  });
  const unblocked = world.baton(['task', 'unblock', 'T1', '--reason', 'it is wanted after all']);
  expect(unblocked.err).toContain('hint: To work on it again: baton task reinstate T1 --reason "…"');
  expect(world.baton(['task', 'reinstate', 'T1', '--reason', 'it is wanted after all'])).toMatchObject({ code: 0 });
  expect(await world.order('task_get', { task_id: 'T1' })).toMatchObject({ claimable: true });
});

it('a project whose ledger belongs on another store is refused, and nothing is recorded here instead', async () => {
  await using world = await World.open();
  world.write(world.repository, { 'baton.toml': 'store = "postgres://nobody@127.0.0.1:1/none"\n' });
  const refused = world.baton(['task', 'list']);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('nobody on this machine has named it');
  world.write(world.repository, { 'baton.toml': '' });
  expect(world.baton(['task', 'add', 'T1', '--title', 'x'])).toMatchObject({ code: 0 });
});
