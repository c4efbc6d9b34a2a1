import { describe, expect, it } from 'vitest';
import * as say from '../state/say.cases.ts';
import { operator, SHA, system, worker } from '../state/say.cases.ts';
import type { ObserveBranch } from '../state/workflow/branch-moves.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const [OTHER, THIRD, MAIN] = ['f', 'e', '1'].map((digit) => digit.repeat(40)) as [string, string, string];
const UNCHECKED = { ciGate: false, checks: [] };

/** Plays what a session, a check or a merge finds when it looks at the branch. */
class BranchPlay extends WorkflowPlay {
  finds(head: string, more: Partial<ObserveBranch> = {}): this {
    return this.say(flow.observeBranch(this.id, head, { old: this.task.flow.head, ...more }));
  }

  /** The git directory of the session with this epoch brought the commits. */
  imported(epoch: number): Partial<ObserveBranch> {
    return { imports: [{ task_id: this.id, epoch }] };
  }

  /** A client without a sandbox holds a claim on another task. */
  withClient(): this {
    return this.order(say.create('X')).say(say.claim('X', 'client'), worker);
  }

  toMergeUnchecked(): this {
    return this.turn('issue-manager').turn('prep').turn('implementer', { head: SHA }).turn('reviewer');
  }

  get authors(): readonly string[] {
    return this.task.flow.authors;
  }

  refusesReviewer(holder = 'reviewer'): string {
    return this.refuse(say.claim(this.id, 's99', { role: 'reviewer', holder }), system).code;
  }
}

const reviewed = (play: BranchPlay): BranchPlay =>
  play.toReview().turn('reviewer', { to: 'fixer-agent', phase: 'IMPLEMENTATION', nextRole: 'fixer' });

describe('commits on the branch that no session was measured at', () => {
  it('belong to nobody whom Baton knows if no session could have made them, and ask nobody', () => {
    const play = reviewed(new BranchPlay()).finds(OTHER);
    expect(play.newest('BranchMoved')).toMatchObject({ old: SHA, new: OTHER, sources: ['operator:unnamed'] });
    expect([play.task.flow.head, play.stands()]).toEqual([OTHER, ['IMPLEMENTATION', 'fixer']]);
    play.turn('fixer', { head: THIRD }).check().turn('reviewer');
    expect([play.stands(), play.openDecisions()]).toEqual([['READY_FOR_MERGE', 'validator'], []]);
    play.checkReplay();
  });

  it('belong to the session whose import brought them: a reviewer that commits after its verdict is an author', () => {
    const play = reviewed(new BranchPlay());
    const { epoch } = play.task;
    play.finds(OTHER, play.imported(epoch));
    expect(play.authors).toContain('agent:reviewer');
    play.turn('fixer', { head: THIRD }).check();
    expect(play.refusesReviewer()).toBe('separation-of-duties');
    // A reviewer who pushes, and then another reviewer who approves.
    expect(play.turn('reviewer', { holder: 'ben' }).stands()).toEqual(['READY_FOR_MERGE', 'validator']);
  });

  it('belong to every session of the task if its git directory has passed to the next claim', () => {
    const play = reviewed(new BranchPlay());
    const { epoch } = (play.claim('fixer'), play.task);
    play.finds(OTHER, play.imported(epoch));
    expect(play.newest('BranchMoved').sources).toEqual(expect.arrayContaining(['agent:implementer', 'agent:reviewer']));
  });

  it('belong to every session without a sandbox that ran since the recorded head', () => {
    const play = reviewed(new BranchPlay()).withClient().finds(OTHER);
    expect(play.newest('BranchMoved')).toMatchObject({
      sources: ['worker:bob'],
      sessions: [{ id: 'client', task_id: 'X' }],
    });
  });

  it('are recorded once, and not if the head has changed since they were compared', () => {
    const play = reviewed(new BranchPlay()).finds(OTHER).finds(OTHER);
    play.finds(THIRD, { old: SHA });
    expect(play.entries.filter(({ type }) => type === 'BranchMoved')).toHaveLength(1);
    expect(play.task.flow.head).toBe(OTHER);
  });
});

describe('an approval, when the branch moves', () => {
  it('is void: the new head is checked and reviewed again, and the claim that found it ends', () => {
    const play = new BranchPlay().toMerge();
    play.claim('validator');
    play.finds(OTHER);
    expect([play.task.claim, play.stands(), play.the('ChecksRequested').head]).toEqual([
      null,
      ['CI_PENDING', 'reviewer'],
      OTHER,
    ]);
    expect(play.task.flow.approval).toBeNull();
    expect(play.check().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    play.checkReplay();
  });

  it('is void without checks, too: the work goes back to review', () => {
    const play = new BranchPlay(UNCHECKED).toMergeUnchecked().finds(OTHER);
    expect(play.stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
  });

  it('stays if the new tree is the automatic merge with main: only the checks run again', () => {
    const play = new BranchPlay().toMerge().finds(OTHER, { main: MAIN });
    expect(play.stands()).toEqual(['CI_PENDING', 'validator']);
    expect(play.check().stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    expect(play.task.flow.approval).toMatchObject({ head: OTHER, principal: 'agent:reviewer' });
    play.turn('validator', { isRecorded: false });
    expect(play.the('MergeRequested').head).toBe(OTHER);
  });

  it('falls if a source of the move gave it, even if that was only the merge with main', () => {
    const play = new BranchPlay().toMerge();
    play.finds(OTHER, { main: MAIN, ...play.imported(play.task.epoch) });
    expect([play.task.flow.approval, play.stands()]).toEqual([null, ['CI_PENDING', 'reviewer']]);
    play.check();
    expect(play.refusesReviewer()).toBe('separation-of-duties');
  });

  it('of a merge under way stays with the merge if the move changes nothing else', () => {
    const play = new BranchPlay().toMerge().turn('validator', { isRecorded: false });
    play.finds(OTHER, { main: MAIN });
    expect([play.stands(), play.task.flow.merge?.head]).toEqual([['READY_FOR_MERGE', 'validator'], SHA]);
  });

  it('of a merge under way is void otherwise, and the merge is cancelled', () => {
    const play = new BranchPlay().toMerge().turn('validator', { isRecorded: false }).finds(OTHER);
    expect([play.stands(), play.task.flow.merge]).toEqual([['CI_PENDING', 'reviewer'], null]);
  });
});

it('an operator who records for the epoch of another is an author, too', () => {
  const play = new BranchPlay().toReview();
  play.claim('reviewer');
  play.say(say.record({ task_id: play.id, commit_sha: OTHER }, play.task.epoch), operator);
  expect(play.authors).toEqual(expect.arrayContaining(['agent:reviewer', 'operator:ann']));
});
