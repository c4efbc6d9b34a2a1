import { expect, it } from 'vitest';
import type { Answer } from '../../src/api/answer.ts';
import { about, findLedgerFault, readLedger, typesOf } from '../processes/ledger.ts';
import { tokenOf } from '../processes/answers.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

const PROCESSES = 32;
const ROUNDS = 200;

it(`${PROCESSES} processes race for one task, ${ROUNDS} times, and each time one of them has it`, async () => {
  await using world = await World.open();
  await world.order('task_create', { task_id: 'T1', title: 'One for all' });
  const peers = Array.from({ length: PROCESSES }, () => world.peer());
  await Promise.all(peers.map(async (peer) => peer.ask('ready')));
  const winners: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const claims = await Promise.all(
      peers.map(async (peer, i) => peer.call('task_claim', { task_id: 'T1', as: `p${i}` })),
    );
    const winner = claims.findIndex(({ ok }) => ok);
    expect(claims.filter(({ ok }) => ok)).toHaveLength(1);
    expect(claims.filter(isTaken)).toHaveLength(PROCESSES - 1);
    expect(claims[winner]).toMatchObject({ result: { task_id: 'T1', epoch: round } });
    winners.push(winner);
    const token = tokenOf(claims[winner]);
    expect(await peers[winner]?.call('task_release', { task_id: 'T1' }, { token })).toMatchObject({ ok: true });
  }
  // The ledger says the same: one claim after the other, each with the next epoch, each ended before the next began.
  const entries = about(await readLedger(world), 'T1').slice(1);
  expect(typesOf(entries)).toEqual(Array.from({ length: ROUNDS }, () => ['TaskClaimed', 'ClaimReleased']).flat());
  expect(entries.map(({ data }) => data['epoch'])).toEqual(Array.from({ length: 2 * ROUNDS }, (_, i) => 1 + (i >> 1)));
  expect(entries.filter((_, i) => i % 2 === 0).map(({ data }) => data['holder'])).toEqual(winners.map((i) => `p${i}`));
  // It was a race: nobody has won all of it.
  expect(new Set(winners).size).toBeGreaterThan(1);
  expect(await findLedgerFault(world)).toBeUndefined();
}, 120_000);

it('of those who wait for a task, one is woken with it and the others wait on', async () => {
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
  // A task that is given back wakes one of them as well.
  await holder.call('task_release', { task_id: 'T0' }, { token: tokenOf(first) });
  for (const task of ['T4', 'T5', 'T6', 'T7']) await world.order('task_create', { task_id: task, title: 'New' });
  const claims = await Promise.all(waiting);
  expect(answered).toBe(8);
  expect(new Set(claims.map(taskOf))).toEqual(new Set(['T0', 'T1', 'T2', 'T3', 'T4', 'T5', 'T6', 'T7']));
}, 60_000);

function isTaken(answer: Answer): boolean {
  return (
    !answer.ok && answer.error.code === 'already-claimed' && /^task T1 is claimed by p\d+$/.test(answer.error.message)
  );
}

function taskOf(answer: Answer): unknown {
  return answer.ok && typeof answer.result === 'object' && answer.result !== null && 'task_id' in answer.result
    ? answer.result.task_id
    : answer;
}
