import { describe, expect, it } from 'vitest';
import * as say from '../state/say.cases.ts';
import { SHA, system } from '../state/say.cases.ts';
import { evolve } from '../state/state.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const PULLS = { pulls: { repository: 'owner/name', remote: 'origin', draft: false } };
const WATCHED = { ...PULLS, checks: [{ name: 'unit', run: 'npm test' }, { name: 'build' }] };
const NEXT = 'b'.repeat(40);

/** Gives each session its own worktree of the task's branch, as in a real workflow. */
class PullPlay extends WorkflowPlay {
  override claim(role: string, holder = role): ReturnType<WorkflowPlay['claim']> {
    const caller = super.claim(role, holder);
    return (this.say(flow.prepare(this.id, this.task.epoch), system), caller);
  }

  toGate(head = SHA): this {
    return this.turn('issue-manager').turn('prep').turn('implementer', { head });
  }

  publish(): this {
    return this.say(flow.publishPull(this.the('PullRequestRequested').pull_id));
  }
}

describe('a task in CI of a project with pull requests', () => {
  it('is published at the head that is checked, and reviewed when both are done, in either order', () => {
    const checked = new PullPlay(PULLS).toGate();
    expect(checked.the('PullRequestRequested')).toMatchObject({
      head: SHA,
      branch: 'feature/a',
      title: 'W-00001: Add a thing',
    });
    expect(checked.check().stands()).toEqual(['CI_PENDING', 'reviewer']);
    expect(checked.publish().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    expect(new PullPlay(PULLS).toGate().publish().check().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    const unchecked = new PullPlay({ ...PULLS, ciGate: false, checks: [] }).toGate();
    expect(unchecked.stands()).toEqual(['CI_PENDING', 'reviewer']);
    expect(unchecked.publish().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    checked.checkReplay();
  });

  it('has one pull request, and a newer request replaces an older one', () => {
    const play = new PullPlay(PULLS).toGate();
    const first = play.the('PullRequestRequested').pull_id;
    play.check('failed').turn('fixer', { head: NEXT });
    expect(play.the('PullRequestRequested')).toMatchObject({ head: NEXT });
    play.say(flow.publishPull(first));
    expect(play.types(), 'nobody waits for the first head').toEqual([]);
    play.publish().check();
    expect(play.task.flow.pull).toMatchObject({ number: 7, published: NEXT, isWanted: false });
    expect(play.stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
  });

  it('is polled at GitHub for checks that GitHub runs, until they have ended', () => {
    const play = new PullPlay(WATCHED).toGate();
    play.publish();
    expect(play.the('PullRequestPublished')).toMatchObject({ head: SHA, watch: ['build'] });
    play.check();
    expect(play.stands()).toEqual(['CI_PENDING', 'reviewer']);
    play.say(flow.finishCheck(play.newest('ChecksRequested').checks_id, 'build', 'passed'));
    expect([play.stands(), play.owed('PullRequestPublished')]).toEqual([['READY_FOR_REVIEW', 'reviewer'], []]);
  });

  it('is blocked with a decision if it cannot be published, and retried from there', () => {
    const play = new PullPlay(PULLS).toGate().check();
    play.say(flow.failPull(play.the('PullRequestRequested').pull_id, 'gh is not logged in'));
    expect(play.stands()[0]).toBe('BLOCKED');
    expect(play.decision().context).toContain('no pull request: gh is not logged in');
    play.resolve(1);
    expect(play.stands()[0]).toBe('CI_PENDING');
    expect(play.publish().check().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    const fixing = new PullPlay(PULLS).toGate().check('failed');
    fixing.say(flow.failPull(fixing.the('PullRequestRequested').pull_id));
    expect(fixing.stands(), 'whoever mends it is not kept from it').toEqual(['IMPLEMENTATION', 'fixer']);
  });

  it('owes no checks while it is blocked because it cannot be published', () => {
    const play = new PullPlay(PULLS).toGate();
    expect(play.owed('ChecksRequested')).toHaveLength(1);
    play.say(flow.failPull(play.the('PullRequestRequested').pull_id, 'gh is not logged in'));
    expect([play.stands()[0], play.owed('ChecksRequested')]).toEqual(['BLOCKED', []]);
    expect(play.resolve(1).owed('ChecksRequested')).toHaveLength(1);
    expect(play.publish().check().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
  });
});

describe('the merge of a pull request', () => {
  const toMerge = (): PullPlay => new PullPlay(PULLS).toGate().publish().check().turn('reviewer');

  it('is made by GitHub, and its addresses are in the handoffs', () => {
    const play = toMerge().turn('validator');
    expect(play.the('MergeRequested').pull).toEqual({ repository: 'owner/name', remote: 'origin' });
    play.merge('conflict');
    expect(play.newest('HandoffDelivered').xml).toContain('https://github.com/owner/name/pull/7');
    expect(new WorkflowPlay().toMerge().turn('validator').the('MergeRequested').pull).toBeUndefined();
  });

  it('notifies people if its result is broken, and still counts as merged', () => {
    const play = toMerge().turn('validator');
    const done = {
      outcome: 'merged',
      merge_sha: NEXT,
      base: SHA,
      reason: 'check failed on the merged tree: unit',
    } as const;
    const { merge_id, method } = play.the('MergeRequested');
    play.say({ kind: 'finish-merge', command: { merge_id, method, ...done, files: [], output: null, newId: 'h1' } });
    expect(play.stands()).toEqual(['COMPLETED', 'closer']);
    expect(play.decision()).toMatchObject({ source: 'merge', taskId: play.id });
    expect(toMerge().turn('validator').merge('merged', NEXT).count('DecisionOpened')).toBe(0);
  });
});

describe('a task that is cancelled', () => {
  const cancel = { kind: 'operate-task', command: { id: 'W-00001', action: 'cancel', reason: 'enough' } } as const;
  const reinstate = { kind: 'operate-task', command: { ...cancel.command, action: 'reinstate' } } as const;

  it('closes its pull request, and opens it again when it comes back', () => {
    const play = new PullPlay(PULLS).toGate().publish().check().order(cancel);
    expect(play.the('PullRequestCloseRequested')).toMatchObject({
      number: 7,
      comment: 'The task W-00001 was cancelled: enough',
    });
    play.say(flow.closePull(play.the('PullRequestCloseRequested').pull_id, 7));
    play.order(reinstate).turn('implementer', { head: NEXT });
    expect(play.the('PullRequestRequested')).toMatchObject({ head: NEXT });
    expect(play.publish().task.flow.pull).toMatchObject({ isClosed: false });
    // The same if the pull request was not closed yet.
    play.order(cancel).order(reinstate).turn('implementer', { head: SHA });
    expect([play.owed('PullRequestCloseRequested'), play.owed('PullRequestRequested').length]).toEqual([[], 1]);
  });

  it('is no longer polled for its checks', () => {
    const play = new PullPlay(WATCHED).toGate().publish();
    expect(play.owed('PullRequestPublished')).toHaveLength(1);
    expect(play.order(cancel).owed('PullRequestPublished')).toEqual([]);
  });

  it('does not publish a requested pull request', () => {
    const play = new PullPlay(PULLS).toGate().order(cancel);
    expect([play.owed('PullRequestRequested'), play.owed('PullRequestCloseRequested')]).toEqual([[], []]);
    play.order(reinstate).turn('implementer', { head: NEXT });
    expect(play.owed('PullRequestRequested')).toHaveLength(1);
  });
});

describe('the seal at the end', () => {
  it('is requested from the last entry of a workflow until a seal covers it', () => {
    const play = new WorkflowPlay().toMerge().turn('validator').merge('merged', NEXT);
    expect(play.owed('PhaseMoved')).toEqual([]);
    const closer = play.claim('closer');
    const way = { from: 'closer-agent', senderRole: 'closer', to: null, phase: 'COMPLETED', nextRole: null } as const;
    play.say(say.handoff({ taskId: play.id, ...way }), closer).say(play.exit(), closer);
    expect(play.the('PhaseMoved')).toMatchObject({ to: 'COMPLETED', next_role: null });
    const seq = play.state.effects.get('seal')?.seq ?? 0;
    const seal = (size: number) =>
      evolve(play.state, {
        type: 'LedgerSealed',
        data: { size, root: '', checkpoint: '' },
        seq: play.state.seq + 1,
        at: '',
        actor: 'system:workflow',
      });
    seal(seq - 1);
    expect(play.owed('PhaseMoved'), 'a seal of what was before').toHaveLength(1);
    seal(seq);
    expect(play.owed('PhaseMoved')).toEqual([]);
  });
});
