import { describe, expect, it } from 'vitest';
import type { AgentPlan, StepPlan, WorkerPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { taskStatus } from '../state/tasks/task.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { Play } from './play.cases.ts';
import { TO_FIXER, WorkflowPlay } from './workflow.cases.ts';

const cancel = (play: Play, id = 'A'): Play => play.order(say.operate('cancel', 'not wanted', id));
const REASON = 'cancelled: not wanted';

function worker(plan: WorkerPlan['plan']): WorkerPlan {
  return { name: 'builders', concurrency: 1, plan };
}
const agentWorker = (more: Partial<AgentPlan> = {}): WorkerPlan =>
  worker({ kind: 'agent', agent: runs.agentPlan(more) });
const pipelineWorker = (steps: readonly StepPlan[]): WorkerPlan => worker(runs.pipelinePlan(steps));

describe('cancelling a task', () => {
  it('ends its agent as cancelled, not as failed, and withdraws its decisions, in one commit', () => {
    const play = new Play().order(runs.configure([agentWorker()])).order(say.create('A'));
    const { id } = play.agent();
    play.say(runs.started(id)).say(runs.signal('escalate', id, 'which way?'), say.session(id));
    expect(play.decision().result).toBeNull();
    cancel(play);
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn' });
    expect(play.agent(id)).toMatchObject({ outcome: 'cancelled', reason: REASON });
    expect(play.count('DecisionWithdrawn')).toBe(1);
    expect(play.types()).toEqual(
      expect.arrayContaining(['ClaimRevoked', 'PhaseMoved', 'AgentEnded', 'DecisionWithdrawn']),
    );
    expect(play.owed('NotificationRequested').filter(({ kind }) => kind === 'failed')).toEqual([]);
    play.checkReplay();
  });

  it('ends its pipeline with everything in it', () => {
    const play = new Play().order(runs.configure([pipelineWorker([runs.agentStep('code'), runs.shellStep('test')])]));
    play.order(say.create('A')).say(runs.started(play.agent().id));
    cancel(play);
    expect([...play.state.pipelines.values()].map(({ outcome }) => outcome)).toEqual(['cancelled']);
    expect(play.agent()).toMatchObject({ outcome: 'cancelled' });
  });

  it('withdraws the decision that holds it, and frees it', () => {
    const play = new WorkflowPlay({}, 'supervised');
    expect(play.openDecisions()).toHaveLength(1);
    cancel(play, play.id);
    expect([play.openDecisions(), play.task.flow.held]).toEqual([[], null]);
    expect(play.refuse(runs.resolve(play.decision().id, 1)).code).not.toBe('');
    play.checkReplay();
  });

  it('withdraws the decision about its block and cancels its retry', () => {
    const asked = new WorkflowPlay().turn('issue-manager').turn('prep');
    const caller = asked.claim('implementer');
    asked.say(say.exit('IMPLEMENTATION', 'blocked', { notes: 'no disk' }), caller);
    expect(asked.openDecisions()).toHaveLength(1);
    expect(cancel(asked, asked.id).owed('TimerSet')).toEqual([]);
    expect(asked.openDecisions()).toEqual([]);

    const retried = new WorkflowPlay().turn('issue-manager').turn('prep');
    retried.turn('implementer', {
      to: 'orchestrator',
      phase: 'BLOCKED',
      nextRole: 'implementer',
      xml: flow.failure(true),
    });
    expect(retried.owed('TimerSet')).toHaveLength(1);
    expect(cancel(retried, retried.id).owed('TimerSet')).toEqual([]);
  });

  it('cancels its stall timer and opens no decision', () => {
    const play = new WorkflowPlay({ stallMs: { DRAFT: 1000, BLOCKED: 1000 } });
    expect(play.owed('TimerSet')).toHaveLength(1);
    expect(cancel(play, play.id).owed('TimerSet')).toEqual([]);
    expect(play.openDecisions()).toEqual([]);
  });

  it('withdraws the decision about its budget', () => {
    const budgets = { task: { tokens: 10 } };
    const play = new Play({ budgets }).order(runs.configure([agentWorker()])).order(say.create('A'));
    const { id } = play.agent();
    play.say(runs.started(id)).say(runs.used(play.agent(id), 100), runs.supervisor(id));
    expect(play.decision()).toMatchObject({ source: 'budget', result: null });
    cancel(play);
    expect(play.decision().result).toMatchObject({ kind: 'withdrawn' });
  });

  it('stops the checks that run for it; an outcome that is reported later changes nothing', () => {
    const play = new WorkflowPlay().turn('issue-manager').turn('prep').turn('implementer', { head: say.SHA });
    const { checks_id: checksId } = play.the('ChecksRequested');
    cancel(play, play.id);
    expect(play.owed('ChecksRequested')).toEqual([]);
    expect(play.task.flow.checks).toMatchObject({ id: checksId, outcome: 'cancelled' });
    play.say(flow.finishCheck(checksId, 'unit', 'failed'));
    expect([taskStatus(play.task), play.types()]).toEqual(['cancelled', []]);
    play.checkReplay();
  });

  it('leaves checks that have ended as they ended, and runs them again once it is reinstated', () => {
    const play = new WorkflowPlay().toReview();
    cancel(play, play.id);
    expect(play.task.flow.checks?.outcome).toBe('passed');
    play.order(say.operate('reinstate', 'wanted again', play.id)).turn('implementer', { head: say.SHA });
    expect(play.owed('ChecksRequested')).toHaveLength(1);
  });

  it('removes its branch and worktree when it is completed too, if Baton made them for its sessions', () => {
    const done = (isPrepared: boolean) => {
      const play = new Play().order(say.create('A')).say(say.claim(), say.worker);
      if (isPrepared) play.say(flow.prepare('A', 1));
      return play.order(say.operate('waive')).owed('PlaceClearRequested');
    };
    expect(done(true)).toMatchObject([{ task_id: 'A' }]);
    expect(done(false)).toEqual([]);
  });

  it('removes its branch and worktree, unless it is reinstated first', () => {
    const named = { kind: 'name-branch', command: { id: 'A', epoch: 1, branch: 'feature/a' } } as const;
    const play = new Play().order(say.create('A')).say(say.claim(), say.worker).say(named);
    expect(cancel(play).the('PlaceClearRequested')).toMatchObject({ task_id: 'A', branch: 'feature/a' });
    play.say({ kind: 'clear-place', command: { task_id: 'A', outcome: 'removed', reason: null } });
    expect(play.owed('PlaceClearRequested')).toEqual([]);
    play.order(say.operate('reinstate', 'wanted again'));
    expect(cancel(play).owed('PlaceClearRequested')).toHaveLength(1);
    expect(play.order(say.operate('reinstate', 'wanted again')).owed('PlaceClearRequested')).toEqual([]);
    play.checkReplay();
  });

  it('also works as the option of a decision', () => {
    const play = new WorkflowPlay({ reviewRounds: 0 }).toReview().turn('reviewer', TO_FIXER);
    const option = play.decision().options.findIndex(({ action }) => action === 'cancel') + 1;
    expect(play.decision().options[option - 1]?.label).toBe('Cancel the task');
    play.resolve(option);
    expect(taskStatus(play.task)).toBe('cancelled');
    expect(play.openDecisions()).toEqual([]);
  });

  it('is refused while its merge lands, and cancels a merge before that', () => {
    const play = new WorkflowPlay().toMerge().turn('validator');
    const { merge_id: mergeId } = play.the('MergeRequested');
    play.say(flow.prepareMerge(mergeId, 'f'.repeat(40)));
    expect(play.refuse(say.operate('cancel', 'too late', play.id)).code).toBe('merging');
    expect(play.say(flow.finishMerge(mergeId, 'merged', 'f'.repeat(40))).stands()).toEqual(['COMPLETED', 'closer']);
  });

  it('gives a reinstated workflow a role, so that its workers claim it', () => {
    const play = new WorkflowPlay().toReview();
    cancel(play, play.id);
    play.order(say.operate('reinstate', 'wanted again', play.id));
    expect(play.stands()).toEqual(['IMPLEMENTATION', 'implementer']);
  });
});
