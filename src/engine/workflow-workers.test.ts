import { describe, expect, it } from 'vitest';
import type { WorkerPlan, WorkflowMode } from '../protocol/run-plan.ts';
import type { Rules } from '../state/rules.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { findUnservedTasks } from '../state/tasks/worker-fit.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { Play } from './play.cases.ts';

const UNCHECKED = { code: 'no-checks', message: 'nothing would be checked', hint: 'List the checks.' };

function backlog(more: Partial<WorkerPlan> = {}, mode: WorkflowMode = 'autonomous'): WorkerPlan {
  return { name: 'backlog', concurrency: 1, plan: { kind: 'workflow', workflow: 'issue', mode }, ...more };
}

const manager: WorkerPlan = {
  name: 'issue-managers',
  roles: ['issue-manager'],
  workflow: true,
  concurrency: 4,
  plan: { kind: 'agent', agent: runs.agentPlan({ name: 'issue-manager', role: 'issue-manager' }) },
};

/** A project with a main branch, and a worker that makes workflows of tasks. */
class BacklogPlay extends Play {
  constructor(worker: WorkerPlan = backlog(), rules: Partial<Rules> = {}) {
    super(rules);
    this.say(flow.seeMain('1'.repeat(40), { by: null })).say(runs.configure([worker, manager]));
  }

  add(...ids: readonly string[]): this {
    const tasks = ids.map((id) => ({ id, title: `do ${id}` }));
    return this.order({ kind: 'import-tasks', command: { source: 'x', tasks } });
  }

  /** The tasks that are workflows, in the order in which they started. */
  get started(): string[] {
    return this.entries.flatMap(({ type, data }) => (type === 'WorkflowStarted' ? [data.task_id] : []));
  }
}

describe('a worker that makes workflows of tasks', () => {
  it('starts one for a task of the backlog, with its mode and the runbook in force, and claims nothing itself', () => {
    const play = new BacklogPlay(backlog({}, 'semi')).add('A');
    expect(play.newest('WorkflowStarted')).toEqual({ task_id: 'A', mode: 'semi', worker: 'backlog' });
    expect(play.state.tasks.get('A')).toMatchObject({
      phase: 'DRAFT',
      flow: { mode: 'semi', worker: 'backlog' },
      claim: { holder: 'issue-manager', role: 'issue-manager' },
    });
    play.checkReplay();
  });

  it('starts as many as its concurrency allows, the most urgent first, and the next when one is over', () => {
    const play = new BacklogPlay(backlog({ concurrency: 2 })).add('A', 'B', 'C', 'D');
    expect(play.started).toEqual(['A', 'B']);
    play.order(say.operate('cancel', 'not now', 'B'));
    expect(play.started).toEqual(['A', 'B', 'C']);
    // A workflow that waits for a person counts.
    play.order(say.update('blocked', { task_id: 'A', notes: 'no key' }));
    expect(play.started).toEqual(['A', 'B', 'C']);
    play.order(say.operate('waive', 'done by hand', 'C'));
    expect(play.started, 'a task that nobody closes any more is over').toEqual(['A', 'B', 'C', 'D']);
    play.checkReplay();
  });

  it('does not wait for a workflow that was reinstated after its end: a person decides who works on it', () => {
    const play = new BacklogPlay().add('A', 'B', 'C').order(say.operate('waive', 'done by hand', 'A'));
    expect(play.started).toEqual(['A', 'B']);
    play.order(say.operate('reinstate', 'it was reverted', 'A')).order(say.operate('waive', 'done by hand', 'B'));
    expect(play.started).toEqual(['A', 'B', 'C']);
    expect(findUnservedTasks(play.state, play.rules)).toMatchObject([{ id: 'A' }]);
    play.checkReplay();
  });

  it('starts no task twice: not after a restart, and not if two changes make room at once', () => {
    const play = new BacklogPlay(backlog({ concurrency: 9 })).add('A', 'B');
    expect(play.started).toEqual(['A', 'B']);
    play.say(runs.configure([backlog({ concurrency: 8 }), manager])).say(runs.configure([backlog(), manager]));
    expect(play.started).toEqual(['A', 'B']);
    expect([...play.replayed().workersWorkflows]).toEqual([...play.state.workersWorkflows]);
  });

  it('takes only its selection: ids, phases and roles', () => {
    const play = new BacklogPlay(backlog({ concurrency: 9, tasks: ['P*'], phases: ['DRAFT'], roles: ['prep'] }));
    play.add('A');
    play.order(say.create('P1')).order(say.create('P2', { phase: 'DRAFT', nextRole: 'implementer' }));
    play.order(say.create('P3', { phase: 'DRAFT', nextRole: 'prep' })).order(say.create('P4', { phase: 'DRAFT' }));
    expect(play.started).toEqual(['P3', 'P4']);
  });

  it('takes nothing that is in a workflow, cancelled, blocked, claimed, done, later than IMPLEMENTATION, or waits for another', () => {
    const play = new Play().say(flow.seeMain('1'.repeat(40), { by: null }));
    for (const id of ['run', 'gone', 'stuck', 'held', 'done', 'first']) play.order(say.create(id));
    play.order(say.create('late', { phase: 'READY_FOR_REVIEW' })).order(say.create('next', { after: ['held'] }));
    play.order({ kind: 'start-workflow', command: { tasks: ['run'], mode: 'autonomous' } });
    play.order(say.operate('cancel', 'no', 'gone')).order(say.operate('waive', 'done', 'done'));
    play.order(say.update('blocked', { task_id: 'stuck', notes: 'no key' })).say(say.claim('held', 's1'), say.worker);
    play.say(runs.configure([backlog({ concurrency: 9 })]));
    const started = play.entries.filter(({ type, data }) => type === 'WorkflowStarted' && data.worker === 'backlog');
    expect(started.map(({ data }) => data)).toMatchObject([{ task_id: 'first' }]);
  });

  it('takes a task that returns: unblocked, released, or with its dependency done', () => {
    const play = new BacklogPlay(backlog({ concurrency: 9 }));
    const tasks = [
      { id: 'A', title: 'a', status: 'blocked', reason: 'no key' },
      { id: 'B', title: 'b', after: ['A'] },
    ] as const;
    play.order({ kind: 'import-tasks', command: { source: 'x', tasks } });
    expect(play.started).toEqual([]);
    play.order(say.operate('unblock', 'there is one', 'A'));
    expect(play.started).toEqual(['A']);
    play.order(say.operate('waive', 'done by hand', 'A'));
    expect(play.started).toEqual(['A', 'B']);
  });
});

describe('a worker that may not start a workflow', () => {
  it('waits for an answer about checks, and then starts', () => {
    const play = new BacklogPlay(backlog(), { unchecked: UNCHECKED }).add('A', 'B');
    expect([play.started, play.count('DecisionOpened')]).toEqual([[], 0]);
    expect(findUnservedTasks(play.state, play.rules), 'they have a worker').toEqual([]);
    play.order({ kind: 'decline-checks', command: { by: 'operator:ann' } });
    expect(play.started).toEqual(['A']);
  });

  it('waits for the first main branch', () => {
    const play = new Play().say(runs.configure([backlog()])).order(say.create('A'));
    expect(play.count('WorkflowStarted')).toBe(0);
    play.say(flow.seeMain('1'.repeat(40), { by: null }));
    expect(play.count('WorkflowStarted')).toBe(1);
  });

  it('waits for a runbook that allows it, also if the workers stay the same; other workers come first', () => {
    const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string];
    const adopted = new Map<string, Rules>();
    const workers = [backlog(), manager];
    const shared = { ciGate: false, mergeGate: false, adopted };
    adopted.set(first, { ...shared, workers, unreviewable: { ...UNCHECKED, code: 'separation-of-duties' } });
    adopted.set(second, { ...shared, workers });
    adopted.set(third, { ...shared, workers: [backlog({ concurrency: 2 }), manager] });
    const play = new BacklogPlay(backlog(), { adopted }).order(flow.adopt(first)).add('A', 'B');
    expect(play.started).toEqual([]);
    play.order(flow.adopt(second));
    expect(play.newest('WorkflowStarted')).toMatchObject({ task_id: 'A', runbook: second });
    play.order(flow.adopt(third));
    expect(play.started, 'the workers of the runbook before start nothing').toEqual(['A']);
    play.say(runs.configure([backlog({ concurrency: 2 }), manager]));
    expect(play.newest('WorkflowStarted')).toMatchObject({ task_id: 'B', runbook: third });
  });
});
