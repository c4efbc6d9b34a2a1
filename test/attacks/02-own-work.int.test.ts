import { afterEach, beforeEach, expect, it } from 'vitest';
import { readToken } from '../../src/api/state-folder.ts';
import { ask, EXIT_PROTOCOL, implement } from '../processes/hand-work.ts';
import { about, readLedger } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

let world: World;
beforeEach(async () => {
  world = await World.open(EXIT_PROTOCOL);
});
afterEach(async () => world[Symbol.asyncDispose]());

it('an author cannot issue itself a token of another principal', async () => {
  const { token } = await implement(world, 'W-1');
  const worker = readToken(world.stateDir, 'worker') ?? '';
  for (const given of [worker, token]) {
    const answer = await world.client(given).issueWorkerToken('reviewer');
    expect(answer).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  }
  // Nor can it invent a token, or change the name in its own.
  const named = await world.client().issueWorkerToken('ada');
  const own = named.ok ? named.result.token : '';
  const other = Buffer.from(JSON.stringify({ n: 'bob' })).toString('base64url');
  const forged = own.replace(/^w\.[^.]*\./, `w.${other}.`);
  expect(await world.client(forged).call('task_list', {})).toMatchObject({ ok: false, error: { code: 'bad-token' } });
  expect(await world.client(own).call('task_list', {})).toMatchObject({ ok: true });
});

it('a reviewer that commits becomes an author, and its approval is refused on every path', async () => {
  await implement(world, 'W-1');
  const { token } = await ask(world.client(), 'task_claim', { task_id: 'W-1', as: 'ann', role: 'reviewer' });
  const reviewer = world.client(String(token));
  const own = world.commit(world.repository, { 'own.txt': 'x\n' }, 'own');
  await ask(reviewer, 'thought_record', record('W-1', own));
  for (const [operation, input] of [
    ['exit_signal', exitSignal('REVIEW')],
    ['task_update', { task_id: 'W-1', status: 'done' }],
    ['task_complete', record('W-1', own)],
  ] as const)
    expect(await reviewer.forward(operation, input)).toMatchObject({
      ok: false,
      error: { code: 'separation-of-duties' },
    });
});

it('a person approves their own change with a reason, which is in the task and in its proof; an agent does not', async () => {
  await implement(world, 'W-1');
  const { token } = await ask(world.client(), 'task_claim', { task_id: 'W-1', as: 'ann' });
  const own = world.commit(world.repository, { 'own.txt': 'x\n' }, 'own');
  const client = world.client(String(token));
  await ask(client, 'task_update', { task_id: 'W-1', status: 'todo' });
  await world.order('task_reinstate', { task_id: 'W-1', reason: 'by hand' });
  await world.order('thought_record', record('W-1', own));
  const claim = async () => world.client().call('task_claim', { task_id: 'W-1', as: 'ann' });
  for (const phase of ['IMPLEMENTATION', 'CI_PENDING']) {
    const claimed = await ask(world.client(), 'task_claim', { task_id: 'W-1', as: 'ann' });
    await ask(world.client(String(claimed['token'])), 'exit_signal', exitSignal(phase));
  }
  expect(await claim()).toMatchObject({ ok: false, error: { code: 'separation-of-duties' } });
  const reason = 'nobody else works here';
  for (const given of [readToken(world.stateDir, 'worker') ?? '', String(token)]) {
    const answer = await world.client(given).call('task_self_approve', { task_id: 'W-1', reason });
    expect(answer).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  }
  await world.order('task_self_approve', { task_id: 'W-1', reason });
  expect(await claim()).toMatchObject({ ok: true });
  expect(await world.order('task_get', { task_id: 'W-1' })).toMatchObject({ self_approval: { reason, head: own } });
  const entries = about(await readLedger(world), 'W-1');
  expect(entries.find(({ type }) => type === 'SelfApproved')?.data).toMatchObject({ task_id: 'W-1', reason });
});
