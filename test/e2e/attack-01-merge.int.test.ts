import { expect, it } from 'vitest';
import { EXIT_PROTOCOL, implement, review } from '../processes/hand-work.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

/**
 * Attack 1: the token of the implementer's ended session requests the merge, also while a decision about the task is
 * open.
 */
it('merges nothing for the token of an ended session, nor for any caller while a decision is open', async () => {
  await using world = await World.open(EXIT_PROTOCOL);
  const { token } = await implement(world, 'W-1');
  await review(world, 'W-1');
  const main = world.git(world.repository, 'rev-parse', 'main');
  const ended = world.client(token);
  const merge = async (client = ended) => client.call('merge_request', { task_id: 'W-1' });

  // Version 0.13 merged the task here.
  expect(await merge()).toMatchObject({ ok: false, error: { code: 'stale-claim' } });
  // The token can only read its own task.
  expect(await ended.call('task_get', { task_id: 'W-1' })).toMatchObject({ ok: true });
  expect(await ended.call('task_list', {})).toMatchObject({ ok: false, error: { code: 'stale-claim' } });

  // The branch is merged to main by hand, and reconciliation opens a decision about the task.
  world.git(world.repository, 'merge', '--quiet', '--no-edit', '--no-ff', 'feature/W-1');
  await world.order('reconcile', { apply: true });
  const decision = await until('a person is asked', async () => {
    const { decision_ids: ids } = await world.order('task_get', { task_id: 'W-1' });
    return Array.isArray(ids) && ids.length > 0 && String(ids[0]);
  });
  for (const client of [ended, world.client()]) expect((await merge(client)).ok).toBe(false);
  expect(await merge(world.client())).toMatchObject({ error: { code: 'decision-open' } });
  await world.order('decision_resolve', { id: decision, option: 2 });
  expect(await merge()).toMatchObject({ ok: false, error: { code: 'stale-claim' } });
  expect(await merge(world.client())).toMatchObject({ ok: true });
  expect(world.git(world.repository, 'merge-base', '--is-ancestor', main, 'main')).toBe('');
});
