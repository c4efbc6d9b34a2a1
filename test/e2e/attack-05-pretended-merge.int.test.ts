import { expect, it } from 'vitest';
import { about, readLedger, typesOf } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

/**
 * Attack 5: the message of a commit on main claims to be the merge of another task, which then would count as merged.
 */
it('merges a task although a commit on main claims to be its merge', async () => {
  await using world = await World.open();
  const { repository } = world;
  world.git(repository, 'switch', '--quiet', '--create', 'feature/a');
  const head = world.commit(repository, { 'work.txt': 'work\n' }, 'work');
  world.git(repository, 'switch', '--quiet', 'main');
  const forged = world.commit(repository, { 'other.txt': 'x\n' }, `task: A — a\n\nBaton-Task: A\nBaton-Head: ${head}`);

  await world.order('task_create', { task_id: 'A', title: 'a', phase: 'READY_FOR_MERGE' });
  await world.order('thought_record', record('A', head, { branch: 'feature/a' }));
  await world.order('task_self_approve', { task_id: 'A', reason: 'nobody else is here' });
  await world.order('merge_request', { task_id: 'A' });
  const entries = await until('the merge has ended', async () => {
    const told = about(await readLedger(world), 'A');
    return typesOf(told).includes('MergeFinished') && told;
  });
  const main = world.git(repository, 'rev-parse', 'main');
  const of = (type: string) => entries.find((entry) => entry.type === type)?.data;
  expect(of('MergePrepared')).toMatchObject({ branch: 'main', base: forged, merge_sha: main });
  expect(of('MergeFinished')).toMatchObject({ outcome: 'merged', base: forged, merge_sha: main });
  expect(world.git(repository, 'show', 'main:work.txt')).toBe('work');
});
