import { describe, expect, it } from 'vitest';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import { trackReadyTasks } from '../state/tasks/ready.ts';
import type { Rules } from '../state/rules.ts';
import * as runs from '../state/runs/say.cases.ts';
import { adopt, askAdoption } from '../state/workflow/say.cases.ts';
import * as say from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { TO_FIXER, WorkflowPlay } from './workflow.cases.ts';

const [STRICT, LAX] = ['1'.repeat(64), '2'.repeat(64)];

function reviewer(name: string): WorkerPlan {
  const plan = { kind: 'agent', agent: { name, run: 'claude', role: 'reviewer' } } as const;
  return { name: 'reviewers', roles: ['reviewer'], workflow: true, concurrency: 1, plan };
}

/** Two runbooks. A workflow is started while the strict one is in force. */
class PinnedPlay extends WorkflowPlay {
  constructor(hasWorkers = false) {
    const workersOf = (name: string) => (hasWorkers ? [reviewer(name)] : []);
    const adopted = new Map<string, Rules>();
    super({ ciGate: false, checks: [], adopted });
    const shared = { mergeGate: true, adopted };
    const strict = [{ name: 'unit', run: 'npm test' }];
    adopted.set(STRICT, { ...shared, ciGate: true, checks: strict, reviewRounds: 1, workers: workersOf('strict') });
    adopted.set(LAX, { ...shared, ciGate: true, checks: [{ name: 'unit', run: 'true' }], workers: workersOf('lax') });
    this.order(adopt(STRICT)).order(flow.startWorkflow('Another'));
  }

  override get id(): string {
    return 'W-00002';
  }
}

describe('a workflow that was started with another runbook than the one in force', () => {
  it('is checked by its own checks', () => {
    const play = new PinnedPlay().turn('issue-manager').turn('prep').order(adopt(LAX));
    play.turn('implementer', { head: 'a'.repeat(40) });
    expect(play.newest('ChecksRequested').checks).toEqual([{ name: 'unit', run: 'npm test' }]);
  });

  it('is merged with its own checks', () => {
    const play = new PinnedPlay().toMerge().order(adopt(LAX)).turn('validator');
    expect(play.newest('MergeRequested').checks).toEqual([{ name: 'unit', run: 'npm test' }]);
  });

  it('escalates after its own number of rounds', () => {
    const play = new PinnedPlay().toReview().order(adopt(LAX));
    play
      .turn('reviewer', TO_FIXER)
      .turn('fixer', { head: 'b'.repeat(40) })
      .check()
      .turn('reviewer', TO_FIXER);
    expect(play.openDecisions()).toHaveLength(1);
  });

  it('is reviewed by its own agent, even if a worker of the same name is in force', () => {
    const play = new PinnedPlay(true).order(adopt(LAX)).order(runs.configure([reviewer('lax')]));
    play.toReview();
    expect(play.newest('AgentRequested').plan.name).toBe('strict');
  });

  it('brings its workers while one of its tasks is ready', () => {
    const play = new PinnedPlay().order(adopt(LAX));
    const ready = trackReadyTasks(play.state, play.rules);
    const has = (): boolean => {
      for (const entry of play.entries) ready.note(play.state, entry);
      return ready.hasRunbook(play.state, STRICT);
    };
    expect(has()).toBe(true);
    play.toMerge().turn('validator').merge('merged', 'd'.repeat(40));
    expect([play.stands(), has()], 'it is still to be closed').toEqual([['COMPLETED', 'closer'], true]);
    const closer = play.claim('closer');
    const end = { to: null, phase: 'COMPLETED', nextRole: null } as const;
    play.say(say.handoff({ taskId: play.id, from: 'closer-agent', senderRole: 'closer', ...end }), closer);
    play.say(play.exit(), closer);
    expect([play.stands(), has()]).toEqual([['COMPLETED', null], false]);
  });

  it('does not change a workflow that is started afterwards', () => {
    const play = new PinnedPlay().order(adopt(LAX)).order(flow.startWorkflow('A third'));
    expect(play.state.tasks.get('W-00003')?.flow.runbook).toBe(LAX);
  });
});

describe('a runbook of the main branch that loosens', () => {
  it('is adopted only by a person, who is named in the entry', () => {
    const play = new PinnedPlay().say(askAdoption(LAX));
    expect(play.count('NotificationRequested')).toBe(1);
    play.order({ kind: 'resolve-decision', command: { id: play.decision().id, option: 2 } });
    expect(play.newest('RunbookAdopted')).toMatchObject({ sha256: LAX, previous: STRICT, commit: 'c'.repeat(40) });
    expect(play.newest('RunbookAdopted').by).toMatch(/^operator:/);
  });

  it('is not adopted after a denial, and opens no second decision', () => {
    const play = new PinnedPlay().say(askAdoption(LAX));
    play.order({ kind: 'resolve-decision', command: { id: play.decision().id, option: 1 } });
    play.say(askAdoption(LAX, { decisionId: 'again' }));
    expect([play.newest('RunbookAdopted').sha256, play.openDecisions()]).toEqual([STRICT, []]);
  });
});
