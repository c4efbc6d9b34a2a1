import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepCall, listKept } from '../../src/api/outbox.ts';
import { stateFiles } from '../../src/api/state-folder.ts';
import { ask, EXIT_PROTOCOL, implement, review } from '../processes/hand-work.ts';
import { readLedger, since } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

let world: World;
beforeEach(async () => {
  world = await World.open(EXIT_PROTOCOL);
});
afterEach(async () => world[Symbol.asyncDispose]());

/** Every write that a session may send, with an input that is accepted from a live session. */
const WRITES: readonly (readonly [string, (head: string) => unknown])[] = [
  ['task_create', () => ({ task_id: 'NEW', title: 'more work' })],
  ['task_release', () => ({ task_id: 'W-1' })],
  ['task_update', () => ({ task_id: 'W-1', status: 'done' })],
  ['thought_record', (head) => record('W-1', head)],
  ['task_complete', (head) => record('W-1', head)],
  ['exit_signal', () => exitSignal('READY_FOR_MERGE')],
  ['merge_request', () => ({ task_id: 'W-1' })],
  ['audit_session_start', () => ({ task_id: 'W-1' })],
  ['workflow_close', () => ({ task_id: 'W-1' })],
];
const READS: readonly (readonly [string, unknown])[] = [
  ['task_list', {}],
  ['task_next_actions', {}],
  ['project_brief', {}],
  ['handoff_list', {}],
  ['task_worktree', {}],
  ['task_get', { task_id: 'W-2' }],
];

describe('the token of an ended session', () => {
  it('changes nothing and reads nothing but its own task', async () => {
    const { token, head } = await implement(world, 'W-1');
    await world.order('task_create', { task_id: 'W-2', title: 'of others' });
    await review(world, 'W-1');
    const ended = world.client(token);
    const before = await readLedger(world);
    for (const [operation, input] of WRITES) {
      const answer = await ended.forward(operation, input(head));
      expect([operation, answer.ok]).toEqual([operation, false]);
    }
    for (const [operation, input] of READS) {
      const answer = await ended.forward(operation, input);
      expect([operation, answer.ok]).toEqual([operation, false]);
    }
    expect(await since(world, before)).toEqual([]);
    for (const operation of ['task_get', 'task_brief', 'thought_list'])
      expect(await ended.forward(operation, { task_id: 'W-1' })).toMatchObject({ ok: true });
  });

  it('gets the first answer to an exact repeat, by its key and by the signal itself', async () => {
    const { head } = await implement(world, 'W-1');
    const claimed = await ask(world.client(), 'task_claim', { task_id: 'W-1', as: 'ann' });
    const client = world.client(String(claimed['token']));
    const recorded = await client.call('thought_record', record('W-1', head), { key: 'k' });
    const left = await client.forward('exit_signal', exitSignal('REVIEW'));
    expect(await client.call('thought_record', record('W-1', head), { key: 'k' })).toEqual(recorded);
    expect(await client.forward('exit_signal', exitSignal('REVIEW'))).toEqual(left);
    expect(await client.call('thought_record', record('W-1', head), { key: 'another' })).toMatchObject({ ok: false });
  });
});

describe('a merge', () => {
  it('is refused for the holder of another claim, and for one without the role that works next', async () => {
    await implement(world, 'W-1');
    await review(world, 'W-1');
    await world.order('task_create', { task_id: 'W-2', title: 'of others' });
    const { token } = await ask(world.workerClient(), 'task_claim', { task_id: 'W-2', as: 'ada' });
    const other = await world.client(String(token)).call('merge_request', { task_id: 'W-1' });
    expect(other).toMatchObject({ ok: false, error: { code: 'wrong-task' } });
    const worker = await world.workerClient().call('merge_request', { task_id: 'W-1' });
    expect(worker).toMatchObject({ ok: false, error: { code: 'forbidden' } });
  });

  it('does not leave a later recorded commit out: it is refused', async () => {
    await implement(world, 'W-1');
    await review(world, 'W-1');
    const later = world.commit(world.repository, { 'later.txt': 'x\n' }, 'later');
    await world.order('thought_record', record('W-1', later));
    // Recording a commit after the review counts as work on the task: neither another principal's approval nor one's
    // own covers it.
    const merge = async () => world.client().call('merge_request', { task_id: 'W-1' });
    expect(await merge()).toMatchObject({ ok: false, error: { code: 'separation-of-duties' } });
    await world.order('task_self_approve', { task_id: 'W-1', reason: 'alone' });
    expect(await merge()).toMatchObject({ ok: false, error: { code: 'later-record' } });
  });
});

describe('a message in the outbox', () => {
  const keep = (token: string, operation: string, input: unknown, keptAt: string): void => {
    const call = {
      v: 1,
      operation,
      input: JSON.stringify(input),
      key: crypto.randomUUID(),
      token,
      projectPath: null,
      keptAt,
    };
    expect(keepCall(stateFiles(world.stateDir).outbox, call as Parameters<typeof keepCall>[1])).toBe(true);
  };

  it('of a session that had ended before it was kept changes nothing', async () => {
    const { token, head } = await implement(world, 'W-1');
    await review(world, 'W-1');
    const before = await readLedger(world);
    keep(token, 'merge_request', { task_id: 'W-1' }, new Date().toISOString());
    keep(token, 'thought_record', record('W-1', head), '2000-01-01T00:00:00.000Z');
    await world.client().deliverKept();
    expect(listKept(stateFiles(world.stateDir).outbox)).toEqual([]);
    expect(await since(world, before)).toEqual([]);
  });
});

describe('a hand claim', () => {
  it('without a record is refused at a CI gate, instead of accepted and then blocked', async () => {
    writeFileSync(join(world.repository, 'baton.toml'), '[[ci.required]]\nname = "unit"\nrun = "true"\n');
    world.git(world.repository, 'add', 'baton.toml');
    world.git(world.repository, 'commit', '--quiet', '--message', 'a gate');
    await world.order('task_create', { task_id: 'W-1', title: 'w' });
    const { token } = await ask(world.workerClient(), 'task_claim', { task_id: 'W-1', as: 'ada' });
    const answer = await world.client(String(token)).forward('exit_signal', exitSignal('IMPLEMENTATION'));
    expect(answer).toMatchObject({ ok: false, error: { message: 'cannot complete: missing thought_record' } });
    expect(await world.order('task_get', { task_id: 'W-1' })).toMatchObject({ phase: 'IMPLEMENTATION' });
  });
});
