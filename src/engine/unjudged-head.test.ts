import { describe, expect, it } from 'vitest';
import type { Rules } from '../state/rules.ts';
import * as say from '../state/say.cases.ts';
import { SHA, system } from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

const OTHER = 'f'.repeat(40);
const PULLS = { pulls: { repository: 'owner/name', remote: 'origin', draft: false } };

/** Gives each session a worktree, like those that Baton starts. */
class MeasuredPlay extends WorkflowPlay {
  override claim(role: string, holder = role): ReturnType<WorkflowPlay['claim']> {
    const caller = super.claim(role, holder);
    return (this.say(flow.prepare(this.id, this.task.epoch), system), caller);
  }

  toGate(): this {
    return this.turn('issue-manager').turn('prep').turn('implementer', { head: SHA });
  }

  /** A person records a commit without a claim. */
  recordAside(): this {
    return this.order(say.record({ task_id: this.id, commit_sha: OTHER }));
  }

  /** Measures a session that sent no exit signal. */
  measure(sessionId: string, head: string): this {
    const measured = { ...flow.measuredAt(head), files: [], commits: head === SHA ? 0 : 1 };
    return this.say({ kind: 'measure-session', command: { sessionId, measured, violations: [] } });
  }

  /** A reviewing session ends without an exit signal at this head, and its task is blocked. */
  dies(role: string, head: string): this {
    const { sessionId } = this.claim(role);
    return this.order(say.update('blocked', { task_id: this.id, notes: 'it died' })).measure(sessionId, head);
  }

  unblock(): this {
    return this.order(say.operate('unblock', 'again', this.id));
  }
}

describe('a commit recorded while checks of another commit run', () => {
  it.each(['passed', 'failed'] as const)('is checked after the others %s, before the task moves', (outcome) => {
    const play = new MeasuredPlay().toGate().recordAside().check(outcome);
    expect([play.task.phase, play.the('ChecksRequested').head]).toEqual(['CI_PENDING', OTHER]);
    expect(play.check().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
    expect(play.task.flow.checks?.head).toBe(play.task.flow.head);
    play.checkReplay();
  });

  it('is published and checked if it came between the checks and the pull request', () => {
    const play = new MeasuredPlay(PULLS).toGate().check().recordAside();
    play.say(flow.publishPull(play.the('PullRequestRequested').pull_id));
    expect([play.task.phase, play.the('ChecksRequested').head, play.the('PullRequestRequested').head]).toEqual([
      'CI_PENDING',
      OTHER,
      OTHER,
    ]);
    play.check().say(flow.publishPull(play.the('PullRequestRequested').pull_id));
    expect(play.stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
  });

  it('is published if no checks are required', () => {
    const play = new MeasuredPlay({ ...PULLS, ciGate: false, checks: [] }).toGate().recordAside();
    play.say(flow.publishPull(play.the('PullRequestRequested').pull_id));
    expect([play.task.phase, play.the('PullRequestRequested').head]).toEqual(['CI_PENDING', OTHER]);
    play.say(flow.publishPull(play.the('PullRequestRequested').pull_id));
    expect(play.stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
  });
});

describe('a commit of a session that was to judge the work', () => {
  const UNCHECKED: Partial<Rules> = { ciGate: false, checks: [] };

  it('is checked when the blocked task continues', () => {
    const play = new MeasuredPlay().toGate().check().dies('reviewer', OTHER).unblock();
    expect([play.stands(), play.the('ChecksRequested').head]).toEqual([['CI_PENDING', 'reviewer'], OTHER]);
    expect(play.newest('PhaseMoved').reason).toContain('ffffffffffff was committed after');
    play.check();
    // The commit is now the one under review, and only its author may not approve it.
    expect(play.refuse(say.claim(play.id, 's9', { role: 'reviewer', holder: 'reviewer' }), system).code).toBe(
      'separation-of-duties',
    );
    expect(play.turn('reviewer', { holder: 'ben' }).stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    expect(play.dies('validator', OTHER).unblock().stands()).toEqual(['READY_FOR_MERGE', 'validator']);
    play.checkReplay();
  });

  it('is reviewed again if the validator made it', () => {
    const play = new MeasuredPlay().toGate().check().turn('reviewer').dies('validator', OTHER).unblock();
    expect(play.check().stands()).toEqual(['READY_FOR_REVIEW', 'reviewer']);
  });

  it('goes to the fixer if there are no checks', () => {
    const play = new MeasuredPlay(UNCHECKED).toGate().dies('reviewer', OTHER).unblock();
    expect(play.stands()).toEqual(['IMPLEMENTATION', 'fixer']);
  });

  it('is handled the same if a person answers the decision about the dead session', () => {
    const play = new MeasuredPlay().toGate().check();
    const caller = play.claim('reviewer');
    play.say({ kind: 'update-task', command: { task_id: play.id, status: 'blocked', notes: 'stuck' } }, caller);
    play.measure(caller.sessionId, OTHER).resolve(1);
    expect(play.stands()).toEqual(['CI_PENDING', 'reviewer']);
  });

  it('is handled the same at once if the claim expired and the task was not blocked', () => {
    const play = new MeasuredPlay().toGate().check();
    const { sessionId, epoch } = play.claim('reviewer');
    play.say(say.expire(play.id, epoch)).measure(sessionId, OTHER);
    expect([play.stands(), play.the('ChecksRequested').head]).toEqual([['CI_PENDING', 'reviewer'], OTHER]);
  });

  it('changes nothing if the head is the same: the review continues', () => {
    const play = new MeasuredPlay().toGate().check().dies('reviewer', SHA).unblock();
    expect(play.stands()).toEqual(['REVIEW', 'reviewer']);
  });
});
