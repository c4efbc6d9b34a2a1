import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import type { AgentPlan, WorkerPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import type { Rules } from '../state/rules.ts';
import { findStuckTasks, findUnservedTasks } from '../state/tasks/worker-fit.ts';
import { findUnmoved } from './faults.cases.ts';
import { Play } from './play.cases.ts';
import { SPEECHES } from './speech.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const unserved = ({ state, rules }: Play): string[] => findUnservedTasks(state, rules).map(({ id }) => id);

function worker(more: Partial<WorkerPlan> = {}, agent: Partial<AgentPlan> = {}): WorkerPlan {
  return { name: 'coders', concurrency: 1, plan: { kind: 'agent', agent: runs.agentPlan(agent) }, ...more };
}

describe('in a project without workers', () => {
  it('a todo task is not unserved', () => {
    expect(unserved(new Play().order(say.create('A')).order(say.create('B', { phase: 'DRAFT' })))).toEqual([]);
  });

  it.each(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE', 'CI_PENDING'] as const)(
    'a task in %s is unserved',
    (phase) => {
      expect(unserved(new Play().order(say.create('A', { phase })))).toEqual(['A']);
    },
  );

  it('a task that reached a phase is unserved until a session claims it, and again after it was released', () => {
    const play = new Play().order(say.create('A')).say(say.claim(), say.worker);
    expect(unserved(play)).toEqual([]);
    play.say(say.record(), say.session()).say(say.exit(), say.session());
    expect(play.state.tasks.get('A')?.phase).toBe('CI_PENDING');
    expect(unserved(play)).toEqual(['A']);
    play.say(say.claim('A', 's2'), say.worker);
    expect(unserved(play)).toEqual([]);
    play.say(say.release(), say.session('s2', 'A', 2));
    expect(unserved(play)).toEqual(['A']);
  });

  it('a task whose session was lost is unserved; a released one is a todo task again', () => {
    const play = new Play().order(say.create('A')).say(say.claim(), say.worker).say(say.expire());
    expect(unserved(play)).toEqual(['A']);
    play.say(say.claim('A', 's2'), say.worker).say(say.release(), say.session('s2', 'A', 2));
    expect(unserved(play)).toEqual([]);
  });

  it('a task that is in CI, waits for another, is blocked or done is not unserved', () => {
    const play = new Play({ ciGate: true, checks: [{ name: 'unit', run: 'true' }] });
    play.order(say.create('A', { phase: 'CI_PENDING' })).order(say.create('B', { after: ['A'], phase: 'REVIEW' }));
    play.order(say.create('C', { phase: 'REVIEW' })).order(say.update('blocked', { task_id: 'C', notes: 'stuck' }));
    play.order(say.create('D')).order(say.operate('waive', 'done elsewhere', 'D'));
    expect(unserved(play)).toEqual([]);
  });
});

describe('in a project with workers', () => {
  const withWorker = (plan: WorkerPlan): Play => new Play().order(runs.configure([plan]));

  it('a task is served by a matching worker, even while that worker is busy', () => {
    const play = withWorker(worker()).order(say.create('A')).order(say.create('B'));
    expect(play.state.tasks.get('B')?.claim).toBeNull();
    expect(unserved(play)).toEqual([]);
  });

  it.each([
    ['takes other tasks', worker({ tasks: ['K*'] })],
    ['takes another phase', worker({ phases: ['READY_FOR_REVIEW'] })],
    ['takes workflows alone', worker({ workflow: true })],
  ])('a task to do is a backlog if the only worker %s; a task in another phase is unserved', (_, plan) => {
    const play = withWorker(plan).order(say.create('A'));
    expect(unserved(play)).toEqual([]);
    expect(unserved(play.order(say.create('B', { phase: 'READY_FOR_MERGE' })))).toEqual(['B']);
  });

  it('a task is unserved if its role has no worker, or if the only one that has it worked on the change', () => {
    const implementer = worker({ roles: ['implementer'], workflow: true }, { name: 'solo', role: 'implementer' });
    const reviewer = worker(
      { name: 'reviewers', roles: ['reviewer'], workflow: true },
      { name: 'solo', role: 'reviewer' },
    );
    const play = new WorkflowPlay().toReview();
    expect(unserved(play)).toEqual([play.id]);
    play.order(runs.configure([implementer]));
    expect(unserved(play)).toEqual([play.id]);

    const own = new WorkflowPlay()
      .turn('issue-manager')
      .turn('prep')
      .turn('implementer', { holder: 'solo', head: say.SHA });
    own.check().order(runs.configure([reviewer]));
    expect(own.task.claim).toBeNull();
    expect(unserved(own)).toEqual([own.id]);
  });
});

describe('a workflow', () => {
  it('without a validator or closer is unserved when it reaches that role', () => {
    const play = new WorkflowPlay().toMerge();
    expect(unserved(play)).toEqual([play.id]);
    play.turn('validator').merge('merged', say.SHA);
    expect(play.stands()).toEqual(['COMPLETED', 'closer']);
    expect(unserved(play)).toEqual([play.id]);
  });

  it('with an open decision is not unserved', () => {
    const play = new WorkflowPlay({}, 'supervised');
    expect(play.openDecisions()).toHaveLength(1);
    expect(unserved(play)).toEqual([]);
  });

  it('is served by the workers of the runbook it was started with', () => {
    const adopted = new Map();
    const play = new WorkflowPlay({ adopted });
    const [first, second] = ['1'.repeat(64), '2'.repeat(64)];
    const manager = worker({ roles: ['issue-manager'], workflow: true }, { name: 'manager', role: 'issue-manager' });
    const rules = { ciGate: true, mergeGate: true, adopted };
    adopted.set(first, { ...rules, workers: [manager] }).set(second, { ...rules, workers: [] });
    play.order({
      kind: 'adopt-runbook',
      command: { sha256: first, commit: null, committed: null, by: 'operator:ann' },
    });
    play.order({ kind: 'start-workflow', command: { title: 'Another', mode: 'autonomous', runbook: first } });
    play.order({
      kind: 'adopt-runbook',
      command: { sha256: second, commit: null, committed: null, by: 'operator:ann' },
    });
    expect(unserved(play)).toEqual(['W-00001']);
  });
});

describe('a task that nothing moves', () => {
  const checked = { ciGate: true, checks: [{ name: 'unit', run: 'true' }] } as const;

  it('is found if its checks were set after it had come to them, until it is reinstated', () => {
    const play = new Play().order(say.create('A')).order(say.create('B', { phase: 'CI_PENDING' }));
    const later: Rules = { ...play.rules, ...checked };
    const stuck = (rules = later): string[] => findStuckTasks(play.state, rules).map(({ id }) => id);
    expect(stuck(play.rules), 'a session could do the work of the checks').toEqual([]);
    expect(stuck()).toEqual(['B']);
    play.order(say.create('C', { after: ['B'] }));
    expect(stuck(), 'another one waits for it').toEqual(['B']);
    play.order(say.operate('reinstate', 'its checks were set later', 'B'));
    expect(stuck()).toEqual([]);
  });

  // `Play` finds it after each command of every test.
  it('does not come about under rules that stay the same, whatever happens', () => {
    const rules = fc.constantFrom<Partial<Rules>>({}, checked, { ciGate: true, checks: [{ name: 'elsewhere' }] });
    const stories = fc.array(fc.oneof(...SPEECHES), { maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(rules, stories, (given, story) => {
        const play = new Play(given);
        for (const speech of story) {
          const said = speech(play);
          if (said !== undefined) play.attempt(...said);
        }
        expect(findUnmoved(play.state, play.rules)).toBeUndefined();
      }),
      { numRuns: samples(400) },
    );
  }, 60_000);
});
