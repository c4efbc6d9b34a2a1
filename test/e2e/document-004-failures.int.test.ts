import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../processes/agent.ts';
import { breakStore } from '../processes/break-store.ts';
import {
  documentProject,
  nextActions,
  work,
  WRITEBACK_FAILED,
  WRITEBACK_REQUIRED,
} from '../processes/document-project.ts';
import { about, findLedgerFault, readLedger, since, typesOf } from '../processes/ledger.ts';
import { record } from '../processes/messages.ts';
import { until } from '../processes/until.ts';
import { inLongLane } from '../lanes.ts';

/** The failure modes of the handoff protocol (source document 004), each with two agents, the PM and git. */
describe('failure mode', () => {
  it('1: agent A finishes, and writeback fails', async () => {
    await using world = await documentProject();
    const a = await world.agent('agent-a');
    await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
    const { branch, commit } = await work(world, a, 'P0.1.1');

    const mend = await breakStore(world);
    const failed = await a.try('thought_record', record('P0.1.1', commit, { branch }));
    expect(failed).toMatchObject({ isError: true, text: WRITEBACK_FAILED });
    expect(failed.hint).toContain('kept, and will be delivered once');
    expect(await a.do('task_get', { task_id: 'P0.1.1' })).toMatchObject({ status: 'in_progress', latest_record: null });
    expect(world.git(world.repository, 'ls-remote', 'origin', branch)).toContain(commit);

    await mend();
    const records = async () => about(await readLedger(world), 'P0.1.1', 'ThoughtRecorded');
    await until('the record that was kept is delivered', async () => (await records()).length > 0);
    expect(await a.do('task_update', { task_id: 'P0.1.1', status: 'done', progress: 100 })).toMatchObject({
      status: 'done',
    });
    expect((await records()).map(({ data }) => data['epoch'])).toEqual([1]);
    // The next agent continues as if there had been no failure.
    await expectBrief(await world.agent('agent-b'), 'P0.1.2', 'agent-a: Record', commit, 'It is done. The tests pass.');
    expect(await findLedgerFault(world)).toBeUndefined();
  }, 60_000);

  inLongLane(() => {
    it('1: or it escalates, and the PM writes the record for it', async () => {
      await using world = await documentProject();
      const a = await world.agent('agent-a');
      await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
      const { branch, commit } = await work(world, a, 'P0.1.1');
      const input = JSON.stringify(record('P0.1.1', commit, { branch }));
      const write = (...options: string[]) => world.baton(['thought', 'record', '-', ...options], { input });

      // A record without a claim does not count for the current holder of the claim.
      expect(write()).toMatchObject({ code: 0 });
      expect(await a.refused('task_update', { task_id: 'P0.1.1', status: 'done' })).toBe(WRITEBACK_REQUIRED);
      expect(write('--epoch', '2')).toMatchObject({ code: 1 });
      expect(write('--epoch', '1')).toMatchObject({ code: 0 });
      expect(await a.do('task_update', { task_id: 'P0.1.1', status: 'done' })).toMatchObject({ status: 'done' });
      const recorded = about(await readLedger(world), 'P0.1.1', 'ThoughtRecorded');
      expect(recorded.map(({ data, actor }) => [data['epoch'], actor.split(':')[0]])).toEqual([
        [null, 'operator'],
        [1, 'operator'],
      ]);
      // The next agent sees who wrote the record: not the agent that did the work.
      await expectBrief(a, 'P0.1.2', /entry \d+, operator:\S+: Record/, commit);
    }, 60_000);
  });

  it('2: agent B picks a task that A is working on', async () => {
    await using world = await documentProject();
    const [a, b] = await Promise.all([world.agent('agent-a'), world.agent('agent-b')]);
    await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
    const { branch, commit, tree } = await work(world, a, 'P0.1.1');
    expect(branch).toBe('feature/p0-1-1-package-setup');

    expect(await b.refused('task_claim', { task_id: 'P0.1.1', as: 'agent-b' })).toBe(
      'task P0.1.1 is claimed by agent-a',
    );
    const added = world.tryGit(world.repository, 'worktree', 'add', '.worktrees/claude/p0-1-1', '-b', branch);
    expect(added).toMatchObject({
      code: 255,
      said: expect.stringMatching(/^fatal: .*'feature\/p0-1-1-package-setup' already exists/m),
    });

    // B queries again, and takes an unclaimed task.
    const next = await nextActions(b);
    expect(next).toEqual(['P0.2.2']);
    expect(await b.do('task_claim', { task_id: next[0], as: 'agent-b' })).toMatchObject({ epoch: 1 });

    // Once A's task is completed and merged, its worktree and branch can be removed.
    await a.do('task_complete', record('P0.1.1', commit, { branch }));
    world.git(world.repository, 'merge', '--quiet', '--no-ff', '--no-edit', branch);
    world.git(world.repository, 'worktree', 'remove', tree);
    world.git(world.repository, 'branch', '--quiet', '--delete', branch);
    expect(await nextActions(b)).toEqual(['P0.1.2', 'P0.1.4']);
    // B's next task starts from A's work.
    await expectBrief(b, 'P0.1.2', 'agent-a: Record', commit, 'P0.1.4 (IMPLEMENTATION): Editor settings');
  }, 60_000);

  it('2: a branch that was made by hand is a clear error that states where it is', async () => {
    await using world = await documentProject();
    const b = await world.agent('agent-b');
    const byHand = join(world.folder, 'by-hand');
    world.git(world.repository, 'worktree', 'add', '--quiet', '-b', 'feature/p0-1-1-package-setup', byHand);
    await b.do('task_claim', { task_id: 'P0.1.1', as: 'agent-b' });
    expect(await b.refused('task_worktree')).toContain(
      `branch 'feature/p0-1-1-package-setup' already exists and is checked out at '${byHand}'`,
    );
  }, 60_000);

  inLongLane(() => {
    it('3: agent B finds a task that is done, but whose work was reverted', async () => {
      await using world = await documentProject();
      const [a, b] = await Promise.all([world.agent('agent-a'), world.agent('agent-b')]);
      await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
      const first = await work(world, a, 'P0.1.1');
      await a.do(
        'task_complete',
        record('P0.1.1', first.commit, { branch: first.branch, files_changed: [first.file] }),
      );
      world.git(world.repository, 'merge', '--quiet', '--no-ff', '--no-edit', first.branch);
      expect(await nextActions(b)).toEqual(['P0.1.2', 'P0.1.4', 'P0.2.2']);
      const reinstating = record('P0.1.1', first.commit, {
        status: 'todo',
        notes: 'Previous PR reverted, task reinstated',
      });
      // The agent's report alone is not enough.
      expect(await b.refused('thought_record', reinstating)).toBe(
        'Baton has not found the commit of P0.1.1 reverted or gone from the main branch',
      );
      world.git(world.repository, 'revert', '--no-edit', '-m', '1', 'HEAD');

      // B's view: the task is done, but the files are missing.
      expect(await b.do('task_get', { task_id: 'P0.1.1' })).toMatchObject({
        status: 'done',
        latest_record: { files_changed: [first.file] },
      });
      expect(existsSync(join(world.repository, first.file))).toBe(false);
      expect(world.git(world.repository, 'log', '--oneline', '-n', '20')).toContain('Revert');
      expect(world.baton(['reconcile']).out).toMatch(/P0\.1\.1: .*revert/);

      // B reinstates it: Baton finds the same in git, so no person is asked.
      await b.do('thought_record', reinstating);
      expect(await b.do('task_get', { task_id: 'P0.1.1' })).toMatchObject({ status: 'todo', claimable: true });
      // Its dependants wait again.
      expect(await nextActions(b)).toEqual(['P0.1.1', 'P0.2.2']);

      // B does the work again, and neither earlier record counts as writeback for it.
      await b.do('task_claim', { task_id: 'P0.1.1', as: 'agent-b' });
      await expectBrief(
        b,
        'P0.1.1',
        'notes: Previous PR reverted, task reinstated',
        'agent-b: Record',
        'agent-a: Record',
        `files_changed: ${first.file}`,
        'Claim 1 of agent-a: completed',
      );
      expect(await b.refused('task_update', { task_id: 'P0.1.1', status: 'done' })).toBe(WRITEBACK_REQUIRED);
      const again = await work(world, b, 'P0.1.1', 'again');
      await b.do('thought_record', record('P0.1.1', again.commit, { branch: again.branch }));
      await b.do('task_update', { task_id: 'P0.1.1', status: 'done', progress: 100 });
      expect(await nextActions(b)).toEqual(['P0.1.2', 'P0.1.4', 'P0.2.2']);
      const story = typesOf(about(await readLedger(world), 'P0.1.1')).filter((type) => type !== 'TaskProgressed');
      const done = 'TaskClaimed ThoughtRecorded ClaimCompleted PhaseMoved';
      expect(story.slice(1).join(' ')).toBe(
        `${done.replace(' ', ' BranchNamed ')} DecisionOpened ThoughtRecorded TaskReinstated PhaseMoved ${done}`,
      );
    }, 60_000);
  });

  it('4: two agents finalize at the same time', async () => {
    await using world = await documentProject();
    const [a, b] = await Promise.all([world.agent('agent-a'), world.agent('agent-b')]);
    await a.do('task_claim', { task_id: 'P0.1.1', as: 'agent-a' });
    await b.do('task_claim', { task_id: 'P0.2.2', as: 'agent-b' });
    const inProgress = 'Merkle finalization in progress. Retry in 5s.';
    // The two calls overlap only by chance, so they are repeated until they do, and each outcome must be correct.
    await until('one was told that the other is at it', async () => {
      await a.do('task_update', { task_id: 'P0.1.1', status: 'in_progress', notes: 'something new' });
      const before = await readLedger(world);
      const both = await Promise.all([a.try('merkle_finalize'), b.try('merkle_finalize')]);
      const made = both.filter(({ result }) => result['is_new'] === true);
      expect(made).toHaveLength(1);
      const { seq, root } = made[0]?.result ?? {};
      for (const { isError, text, result } of both.filter((each) => each !== made[0])) {
        expect(isError ? text : result['root']).toBe(isError ? inProgress : root);
      }
      // A later attempt finds the audit finished: the same seal, and no new entry.
      for (const agent of [a, b]) expect(await agent.do('merkle_finalize')).toMatchObject({ seq, root, is_new: false });
      expect(await b.do('merkle_root')).toMatchObject({ seq, root });
      expect(typesOf(await since(world, before))).toEqual(['LedgerSealed']);
      return both.some(({ isError }) => isError);
    });
    expect(await findLedgerFault(world)).toBeUndefined();
  }, 60_000);
});

/** Checks the brief with which an agent starts a task. */
async function expectBrief(agent: Agent, taskId: string, ...words: readonly (string | RegExp)[]): Promise<void> {
  const { text } = await agent.do('task_brief', { task_id: taskId });
  for (const each of words) expect(text).toMatch(each);
}
