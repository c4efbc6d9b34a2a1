import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/api/client/connect.ts';
import { refuseEntries } from '../processes/break-store.ts';
import { until } from '../processes/until.ts';
import { say } from './connect.ts';
import { openStdio, recordOf } from './open-stdio.ts';
import { startRealDaemon, type RealDaemon } from './real-daemon.ts';
import { inLongLane } from '../lanes.ts';

/** Source document 004, as corrected in section 5 of the specification: two agents, a daemon, a git repository. */
let daemon: RealDaemon;
let a: Client;
let b: Client;

beforeAll(async () => {
  daemon = await startRealDaemon({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
  [a, b] = await Promise.all([openStdio(daemon), openStdio(daemon)]);
});
afterAll(async () => {
  await Promise.all([a.close(), b.close()]);
  await daemon[Symbol.asyncDispose]();
});

const WRITEBACK_REQUIRED = 'Writeback required: thought_record must be recorded before task completion.';
const WRITEBACK_FAILED =
  'Writeback failed: unable to insert thought_record. Retry with fresh DB connection or escalate.';

describe('a typical handoff, in four stages', () => {
  it('works as in the diagram', async () => {
    await create('P0.1.1', 'package setup');
    await create('P0.1.2', 'linter', ['P0.1.1']);
    await create('P0.1.4', 'container', ['P0.1.1']);

    // Stage 1: the work, on a separate branch.
    const { branch, commit } = await work(a, 'P0.1.1');
    expect(branch).toBe('feature/p0-1-1-package-setup');
    expect((await say(b, 'task_next_actions')).result).toEqual({ tasks: [] });

    // Stage 2: writeback, proof-grade. In the diagram the update comes first, and is refused.
    const audit = await said(a, 'audit_session_start', { task_id: 'P0.1.1' });
    await said(a, 'audit_verify_chain', { audit_id: audit['audit_id'] });
    const done = { task_id: 'P0.1.1', status: 'done', progress: 100, notes: 'Set up.' };
    expect((await say(a, 'task_update', done)).text).toBe(WRITEBACK_REQUIRED);
    expect(await said(a, 'task_get', { task_id: 'P0.1.1' })).toMatchObject({ status: 'in_progress' });
    expect((await say(a, 'merkle_finalize')).text).toContain('has no thought record yet');
    await said(a, 'thought_record', recordOf('P0.1.1', commit, branch));
    await said(a, 'task_update', done);
    const { root } = await said(a, 'merkle_finalize', {});
    expect(await said(a, 'merkle_root', {})).toMatchObject({ root });

    // Stage 3: a reviewer reads the record, and merges.
    const records = await daemon.asOperator('thought_list', { task_id: 'P0.1.1' });
    expect(records).toMatchObject({ ok: true, result: { latest: { commit_sha: commit } } });
    daemon.git(daemon.repository, 'merge', '-q', '--no-ff', '-m', 'merge', branch);

    // Stage 4: the next agent.
    const { tasks } = await said(b, 'task_next_actions', {});
    expect(tasks).toMatchObject([{ id: 'P0.1.2' }, { id: 'P0.1.4' }]);
    const next = await work(b, 'P0.1.2');
    expect((await say(b, 'task_brief', { task_id: 'P0.1.2' })).text).toContain('P0.1.1 is done.');
    await said(b, 'task_complete', recordOf('P0.1.2', next.commit, next.branch));
    expect(await said(b, 'task_get', { task_id: 'P0.1.2' })).toMatchObject({ status: 'done' });
  });
});

describe('failure modes', () => {
  it('1: writeback fails, is kept, and arrives once when the store is back', async () => {
    await create('F1', 'one');
    const { branch, commit } = await work(a, 'F1');
    const repair = await refuseEntries(daemon);
    const failed = await say(a, 'thought_record', recordOf('F1', commit, branch));
    expect(failed).toMatchObject({ isError: true, text: WRITEBACK_FAILED });
    expect(failed.hint).toContain('The call is kept');
    await repair();
    expect(await said(a, 'task_get', { task_id: 'F1' })).toMatchObject({ status: 'in_progress' });
    const operator = asOperator();
    await operator.deliverKept();
    operator.close();
    expect(await daemon.asOperator('thought_list', { task_id: 'F1' })).toMatchObject({ result: { records: [{}] } });
    await said(a, 'task_update', { task_id: 'F1', status: 'done' });
  });

  it('1: or the project manager records it for the agent', async () => {
    await create('F1b', 'one');
    const { branch, commit } = await work(a, 'F1b');
    const record = { ...recordOf('F1b', commit, branch), epoch: 1 };
    expect(await daemon.asOperator('thought_record', record)).toMatchObject({ ok: true });
    await said(a, 'task_update', { task_id: 'F1b', status: 'done' });
  });

  it("2: an agent that claims another agent's task is refused, and claims a different one", async () => {
    await create('F2', 'two');
    await create('F2b', 'another');
    const { branch } = await work(a, 'F2');
    const refused = await say(b, 'task_claim', { task_id: 'F2', as: 'agent-b' });
    expect(refused).toMatchObject({ isError: true, result: { error: { code: 'already-claimed' } } });
    const byHand = (): string => daemon.git(daemon.repository, 'worktree', 'add', '-b', branch, '../by-hand');
    expect(byHand).toThrow('already exists');
    const { tasks } = await said(b, 'task_next_actions', {});
    expect(tasks).not.toContainEqual(expect.objectContaining({ id: 'F2' }));
    expect(await said(b, 'task_claim', { task_id: 'F2b', as: 'agent-b' })).toMatchObject({ task_id: 'F2b' });
  });

  inLongLane(() => {
    it('3: a task whose merge was reverted is reinstated, and done again', async () => {
      await create('F3', 'three');
      const { branch, commit } = await work(a, 'F3');
      const { text: form } = await say(a, 'form_get', { kind: 'record' });
      expect(form).toContain(`branch: ${branch}\ncommit_sha: ${commit}`);
      await said(a, 'task_complete', recordOf('F3', commit, branch));
      daemon.git(daemon.repository, 'merge', '-q', '--no-ff', '-m', 'merge', branch);
      const notes = 'Previous PR reverted, task reinstated';
      const reinstated = { ...recordOf('F3', commit, branch), status: 'todo', notes };
      // The agent's report is not enough: Baton checks git.
      expect((await say(b, 'thought_record', reinstated)).result).toMatchObject({ error: { code: 'not-undone' } });
      daemon.git(daemon.repository, 'revert', '-m', '1', '--no-edit', 'HEAD');
      expect(await said(b, 'thought_record', reinstated)).toMatchObject({ task_id: 'F3' });
      expect(await said(b, 'task_get', { task_id: 'F3' })).toMatchObject({ status: 'todo', claimable: true });
      expect(await said(b, 'task_claim', { task_id: 'F3', as: 'agent-b' })).toMatchObject({ epoch: 2 });
      // The earlier record does not count as writeback for the new claim.
      expect((await say(b, 'task_update', { task_id: 'F3', status: 'done' })).text).toBe(WRITEBACK_REQUIRED);
    });
  });

  it('4: of two agents that seal at once, one may have to repeat the call, which then finds the seal', async () => {
    await Promise.all([create('F4', 'four'), create('F4b', 'four')]);
    await said(a, 'task_claim', { task_id: 'F4', as: 'agent-a' });
    await said(b, 'task_claim', { task_id: 'F4b', as: 'agent-b' });
    const both = await Promise.all([say(a, 'merkle_finalize'), say(b, 'merkle_finalize')]);
    const refused = both.filter(({ isError }) => isError);
    expect(refused.length).toBeLessThan(2);
    for (const { text } of refused) expect(text).toBe('Merkle finalization in progress. Retry in 5s.');
    // The daemon may record findings in git between two calls, which are then sealed.
    await until('nothing new is left to seal', async () => {
      const { root } = await said(a, 'merkle_root', {});
      const again = await said(b, 'merkle_finalize', {});
      return again['is_new'] === false && again['root'] === root;
    });
  });
});

it('after an exit signal the next agent, which waits, has the work in its next phase', async () => {
  await create('E1', 'exit');
  await work(a, 'E1');
  const waiting = say(b, 'task_claim', { task_id: 'E1', as: 'agent-b', wait_ms: 60_000 });
  const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed: 'IMPLEMENTATION' };
  expect(await said(a, 'exit_signal', { ...exit, exit_reason: 'completed' })).toMatchObject({
    next_phase: 'CI_PENDING',
  });
  expect((await waiting).result).toMatchObject({ task_id: 'E1', epoch: 2 });
  expect(await hasEntry('AgentSessionCompleted')).toBe(true);
  const task = await said(b, 'task_get', { task_id: 'E1' });
  expect(task).toMatchObject({ phase: 'CI_PENDING', endings: [{ how: 'completed' }] });
  expect((await say(a, 'task_heartbeat', { task_id: 'E1' })).text).toBe('stale claim: epoch 1 < 2');
});

async function create(taskId: string, title: string, after: string[] = []): Promise<void> {
  expect(await daemon.asOperator('task_create', { task_id: taskId, title, after })).toMatchObject({ ok: true });
}

/** Claims a task and works on it in a separate worktree. */
async function work(agent: Client, taskId: string): Promise<{ readonly branch: string; readonly commit: string }> {
  await said(agent, 'task_claim', { task_id: taskId, as: 'agent' });
  const { path, branch } = await said(agent, 'task_worktree', {});
  writeFileSync(join(String(path), `${taskId}.txt`), 'done\n');
  daemon.git(String(path), 'add', '.');
  daemon.git(String(path), 'commit', '-q', '-m', `task: ${taskId} — done`);
  return { branch: String(branch), commit: daemon.git(String(path), 'rev-parse', 'HEAD') };
}

/** Calls a tool that must succeed. */
async function said(agent: Client, tool: string, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { isError, text, result } = await say(agent, tool, args);
  expect({ isError, text }).toEqual({ isError: false, text });
  return result;
}

function asOperator() {
  return createClient({ env: daemon.env, projectPath: daemon.repository, autostart: false });
}

/** Reports whether the ledger has an entry of this type. It was recorded before, or the stream would not end. */
async function hasEntry(type: string): Promise<boolean> {
  const operator = asOperator();
  try {
    for await (const entry of operator.events()) if (entry.type === type) return true;
    return false;
  } finally {
    operator.close();
  }
}
