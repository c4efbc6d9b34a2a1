import { expect, it } from 'vitest';
import type { Answer } from '../../src/api/answer.ts';
import { readLedger } from '../processes/ledger.ts';
import { tokenOf } from '../processes/answers.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { proveRace } from './claim-race.cases.ts';

proveRace(8, 50);

it('of several callers that wait for a task, one gets it and the others wait on', async () => {
  await using world = await World.open();
  await world.order('task_create', { task_id: 'T0', title: 'There already' });
  const holder = world.client();
  const first = await holder.call('task_claim', { task_id: 'T0', as: 'holder' });
  const peers = Array.from({ length: 8 }, () => world.peer());
  await Promise.all(peers.map(async (peer) => peer.ask('ready')));
  const waiting = peers.map(async (peer, i) => peer.call('task_claim', { as: `p${i}`, wait_ms: 60_000 }));
  let answered = 0;
  for (const claim of waiting) void claim.then(() => (answered += 1));
  for (const [i, task] of ['T1', 'T2', 'T3'].entries()) {
    await world.order('task_create', { task_id: task, title: 'New' });
    await until(`${i + 1} have been woken`, () => answered === i + 1);
    const claimed = (await readLedger(world)).filter(({ type }) => type === 'TaskClaimed');
    expect(claimed.map(({ data }) => data['task_id'])).toEqual(['T0', 'T1', 'T2', 'T3'].slice(0, i + 2));
  }
  // A released task wakes a waiting caller as well.
  await holder.call('task_release', { task_id: 'T0' }, { token: tokenOf(first) });
  for (const task of ['T4', 'T5', 'T6', 'T7']) await world.order('task_create', { task_id: task, title: 'New' });
  const claims = await Promise.all(waiting);
  expect(answered).toBe(8);
  expect(new Set(claims.map(taskOf))).toEqual(new Set(['T0', 'T1', 'T2', 'T3', 'T4', 'T5', 'T6', 'T7']));
}, 60_000);

function taskOf(answer: Answer): unknown {
  return answer.ok && typeof answer.result === 'object' && answer.result !== null && 'task_id' in answer.result
    ? answer.result.task_id
    : answer;
}
