import { describe, expect, it } from 'vitest';
import type { RaisedFinding } from '../state/runs/resolve-decision.ts';
import * as runs from '../state/runs/say.cases.ts';
import { claim, create, exit, record, session, update, worker } from '../state/say.cases.ts';
import { Play } from './play.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

/** A task with a record and a released claim. */
function worked(rules: ConstructorParameters<typeof Play>[0] = {}): Play {
  const play = new Play(rules).order(create('A')).say(claim('A', 's1'), worker).say(record(), session());
  return play.say(update('todo'), session());
}

/** The current findings of reconciliation. */
function found(play: Play, remedy: RaisedFinding['remedy'], more: Partial<RaisedFinding> = {}): RaisedFinding {
  const { epoch, flow } = play.state.tasks.get('A') ?? { epoch: 0, flow: { movedAt: 0 } };
  const decisionId = `d${play.entries.length}`;
  const kind = remedy === 'reinstate' ? 'commit-reverted' : 'merged-by-hand';
  return { decisionId, taskId: 'A', kind, context: 'it does not fit', remedy, epoch, movedAt: flow.movedAt, ...more };
}

describe('a finding of reconciliation', () => {
  it('opens one decision, even after an answer, and another when it comes back', () => {
    const play = worked();
    play.say(runs.raise([found(play, 'complete')]));
    expect(play.types()).toEqual(['DecisionOpened']);
    expect(play.decision()).toMatchObject({ source: 'reconcile', taskId: 'A', result: null });
    play.say(runs.raise([found(play, 'complete')]));
    expect(play.types()).toEqual([]);
    play.order(runs.resolve(play.decision().id, 2)).say(runs.raise([found(play, 'complete')]));
    expect(play.types()).toEqual([]);

    const other = worked();
    other.say(runs.raise([found(other, 'complete')])).say(runs.raise([]));
    expect(other.types()).toEqual(['DecisionWithdrawn']);
    other.say(runs.raise([found(other, 'complete')]));
    expect(other.types()).toEqual(['DecisionOpened']);
    other.checkReplay();
  });

  it('opens no decision about a task that is claimed, or that moved since it was compared', () => {
    const play = worked();
    const before = found(play, 'complete');
    play.say(claim('A', 's2'), worker).say(runs.raise([found(play, 'complete')]));
    expect(play.types()).toEqual([]);
    play.say(update('todo'), session('s2', 'A', 2)).say(runs.raise([before]));
    expect(play.types()).toEqual([]);
    play.say(runs.raise([found(play, 'complete', { taskId: 'nobody knows' })]));
    expect(play.types()).toEqual([]);
  });

  it('opens a limited number of decisions at once', () => {
    const play = worked();
    const many = Array.from({ length: 80 }, (_, i) =>
      found(play, null, { decisionId: `d${i}`, context: `finding ${i}` }),
    );
    expect(play.say(runs.raise(many)).types()).toHaveLength(50);
    play.order(runs.resolve('d0', 1)).say(runs.raise(many));
    expect(play.newest('DecisionOpened').context).toBe('finding 50');
    expect(play.types()).toHaveLength(1);
  });

  it('completes the task if a person chooses that and no gate prevents it', () => {
    const play = worked();
    play.say(runs.raise([found(play, 'complete')]));
    expect(play.decision().options.map(({ action }) => action)).toEqual(['done', 'dismiss']);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.types()).toEqual(['DecisionResolved', 'PhaseMoved']);
    expect(play.state.tasks.get('A')?.phase).toBe('COMPLETED');
    for (const closed of [new Play().order(create('A')), worked({ mergeGate: true })]) {
      closed.say(runs.raise([found(closed, 'complete')]));
      expect(closed.decision().options.map(({ action }) => action)).toEqual(['dismiss']);
    }
  });

  it('reinstates the task if a person chooses that', () => {
    const play = worked().order(update('done'));
    play.say(runs.raise([found(play, 'reinstate')]));
    expect(play.decision().options).toMatchObject([{ action: 'retry', recommended: true }, { action: 'dismiss' }]);
    play.order(runs.resolve(play.decision().id, 1, 'it was reverted'));
    expect(play.types()).toEqual(['DecisionResolved', 'TaskReinstated', 'PhaseMoved']);
    expect(play.newest('TaskReinstated').reason).toBe('decision: retry: it was reverted');
    expect(play.state.tasks.get('A')).toMatchObject({ phase: 'IMPLEMENTATION', claim: null });
  });

  it('lets an agent reinstate the task, and is withdrawn with the reason', () => {
    const play = worked().order(update('done'));
    const gone = found(play, 'reinstate', { kind: 'commit-gone' });
    play.say(runs.raise([gone])).say(record({ status: 'todo', notes: 'it was reverted' }), worker);
    expect(play.types()).toEqual(['ThoughtRecorded', 'TaskReinstated', 'PhaseMoved', 'DecisionWithdrawn']);
    const withdrawn = { kind: 'withdrawn', reason: 'reinstated by worker:bob: it was reverted' };
    expect(play.decision(gone.decisionId).result).toMatchObject(withdrawn);
    expect(play.refuse(record({ status: 'todo' }), worker).code).toBe('not-undone');
    play.checkReplay();
  });

  it('withdraws the question about the finished work if an agent reinstates the task', () => {
    const play = new WorkflowPlay().toMerge().turn('validator').merge('merged', 'b'.repeat(40));
    const closer = play.claim('closer');
    play.say(exit('COMPLETED', 'error', { eventId: 'e9', notes: 'no network' }), closer);
    expect(play.openDecisions()).toEqual(['Task needs attention: W-00001 (closing failed)']);
    const { epoch, flow } = play.task;
    const about = { taskId: play.id, kind: 'commit-gone', epoch, movedAt: flow.movedAt } as const;
    play.say(runs.raise([found(play, 'reinstate', about)]));
    play.say(record({ task_id: play.id, status: 'todo', notes: 'it was reverted' }), worker);
    expect(play.openDecisions()).toEqual([]);
    expect(play.task).toMatchObject({ phase: 'IMPLEMENTATION', flow: { held: null } });
    play.checkReplay();
  });

  it('is withdrawn when the task is completed, and its answer does not affect a task that moved in the meantime', () => {
    const play = worked();
    play.say(runs.raise([found(play, 'complete')])).order(update('done'));
    expect(play.types()).toEqual(['PhaseMoved', 'DecisionWithdrawn']);
    play.say(runs.raise([found(play, 'reinstate')])).order(runs.resolve(play.decision().id, 2));
    expect(play.types()).toEqual(['DecisionResolved']);
    expect(play.state.tasks.get('A')?.phase).toBe('COMPLETED');
  });
});
