import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import { TO_FIXER, WorkflowPlay } from '../../engine/workflow.cases.ts';
import * as runs from '../runs/say.cases.ts';
import { claim, complete, create, operate, record, SHA, session, update } from '../say.cases.ts';
import { KEPT_SPANS, sumTimes, type Timeline } from './timeline.ts';
import { listStages, listVisits } from './visits.ts';

const MINUTE = 60_000;

function timelineOf(play: Play, id = 'A'): Timeline {
  return play.state.timelines.get(id) ?? { spans: [] };
}

/** Each span as `activity stage`, with its length in seconds. */
function spansOf(play: Play, id = 'A'): string[] {
  const { spans } = timelineOf(play, id);
  return spans.map(({ activity, gate, role, phase, from }, i) => {
    const ms = Date.parse(spans[i + 1]?.from ?? play.at) - Date.parse(from);
    return `${activity} ${gate ?? role ?? phase} ${ms / 1000}`;
  });
}

describe('the spans of a task', () => {
  it('are queued, running, and done', () => {
    const play = new Play().order(create()).wait(3000).say(claim()).wait(5000);
    play.say(complete(), session()).wait(1000);
    expect(spansOf(play)).toEqual(['queued IMPLEMENTATION 3', 'running IMPLEMENTATION 5', 'done COMPLETED 1']);
    play.checkReplay();
  });

  it('are pending until the tasks before it are done', () => {
    const play = new Play()
      .order(create())
      .order(create('B', { after: ['A'] }))
      .wait(3000);
    play.order(operate('waive')).wait(1000);
    expect(spansOf(play, 'B')).toEqual(['pending IMPLEMENTATION 3', 'queued IMPLEMENTATION 1']);
    play.order(operate('reinstate')).wait(2000);
    expect(spansOf(play, 'B').at(-1)).toBe('pending IMPLEMENTATION 2');
  });

  it('are blocked if nobody is asked, and belong to the stage that was blocked', () => {
    const play = new Play().order(create('A', { nextRole: 'writer' })).say(claim('A', 's1', { role: 'writer' }));
    play
      .wait(1000)
      .say(update('blocked', { notes: 'no disk' }), session())
      .wait(2000);
    play.order(operate('unblock')).wait(4000);
    expect(spansOf(play)).toEqual(['running writer 1', 'blocked writer 2', 'queued writer 4']);
    expect(listVisits(timelineOf(play), play.at)).toMatchObject([
      { stage: 'writer', outcome: 'blocked', to: null, ms: { running: 1000, blocked: 2000, queued: 4000 } },
    ]);
  });

  it('end when the task is cancelled', () => {
    const play = new Play().order(create()).wait(1000).order(operate('cancel')).wait(9000);
    expect(spansOf(play)).toEqual(['queued IMPLEMENTATION 1', 'cancelled BLOCKED 9']);
    expect(listVisits(timelineOf(play), play.at).map(({ to }) => to)).toEqual(['2026-01-01T00:00:01.000Z']);
  });

  it('wait for a person while an agent under the claim is parked, also one that took over', () => {
    const plan = runs.agentPlan({ on_stop: { action: 'escalate' } });
    const play = new Play().say(runs.configure([{ name: 'w', concurrency: 1, plan: { kind: 'agent', agent: plan } }]));
    play.order(create());
    const stop = (): void => {
      const { id } = play.agent();
      play
        .say(runs.started(id))
        .wait(1000)
        .say(runs.report({ kind: 'stop' }, id))
        .wait(2000);
    };
    stop();
    play.say(runs.exited(play.agent().id)).order(runs.resolve(play.decision().id, 3));
    stop();
    expect(spansOf(play)).toEqual([
      'running IMPLEMENTATION 1',
      'waiting IMPLEMENTATION 2',
      'running IMPLEMENTATION 1',
      'waiting IMPLEMENTATION 2',
    ]);
  });

  it('keep their sums when the oldest are no longer listed', () => {
    const play = new Play().order(create());
    for (let i = 1; i <= KEPT_SPANS; i++) {
      play
        .wait(1000)
        .say(claim('A', `s${i}`))
        .wait(2000);
      play.say({ kind: 'release-claim', command: { id: 'A' } }, session(`s${i}`, 'A', i));
    }
    const { spans, older } = timelineOf(play);
    expect(spans).toHaveLength(KEPT_SPANS);
    expect(older?.from).toBe('2026-01-01T00:00:00.000Z');
    expect(sumTimes(timelineOf(play), play.at)).toEqual({ queued: KEPT_SPANS * 1000, running: KEPT_SPANS * 2000 });
  });

  it('count nothing twice if the clock is set back', () => {
    const play = new Play().order(create()).wait(5000).say(claim()).wait(-60_000);
    play.say({ kind: 'release-claim', command: { id: 'A' } }, session()).wait(1000);
    expect(sumTimes(timelineOf(play), play.at)).toEqual({ queued: 6000, running: 0 });
  });
});

/** A workflow in which each step takes a minute, and each stage queues for a second. */
class TimedWorkflow extends WorkflowPlay {
  override claim(role: string, holder?: string): ReturnType<WorkflowPlay['claim']> {
    this.wait(1000);
    const caller = super.claim(role, holder);
    this.wait(MINUTE);
    return caller;
  }

  override check(outcome?: 'passed' | 'failed' | 'cancelled'): this {
    return this.wait(MINUTE).checked(outcome);
  }

  checked(outcome?: 'passed' | 'failed' | 'cancelled'): this {
    return super.check(outcome);
  }

  get visits(): string[] {
    return listVisits(timelineOf(this, this.id), this.at).map(({ stage, round, outcome, ms }) => {
      const times = Object.entries(ms).map(([activity, spent]) => `${activity} ${spent / 1000}`);
      return `${stage} ${round}: ${times.join(', ')} → ${outcome ?? 'now'}`;
    });
  }

  stages(hasChecks = true): string[] {
    const visits = listVisits(timelineOf(this, this.id), this.at);
    return listStages(visits, { isWorkflow: true, hasChecks }).map(
      ({ name, status, visits: times }) => `${name} ${status}${times > 1 ? ` ×${times}` : ''}`,
    );
  }
}

describe('the stages of a workflow', () => {
  it('have their times, rounds and outcomes', () => {
    const play = new TimedWorkflow().turn('issue-manager').turn('prep').turn('implementer', { head: SHA });
    play
      .check('failed')
      .turn('fixer', { head: 'b'.repeat(40) })
      .check();
    play
      .turn('reviewer', TO_FIXER)
      .turn('fixer', { head: 'c'.repeat(40) })
      .check();
    play.turn('reviewer', { holder: 'rita' }).turn('validator', { holder: 'val' });
    play.say(record({ task_id: play.id, commit_sha: 'c'.repeat(40) }), { kind: 'operator', name: 'ann' });
    play.wait(MINUTE).merge('merged', 'd'.repeat(40));
    const session_ = 'queued 1, running 60';
    expect(play.visits).toEqual([
      `issue-manager 0: ${session_} → completed`,
      `prep 0: ${session_} → completed`,
      `implementer 0: ${session_} → completed`,
      'ci 0: checks 60 → failed',
      `fixer 1: ${session_} → completed`,
      'ci 1: checks 60 → passed',
      `reviewer 1: ${session_} → completed`,
      `fixer 2: ${session_} → completed`,
      'ci 2: checks 60 → passed',
      `reviewer 2: ${session_} → completed`,
      `validator 2: ${session_} → completed`,
      'merge 2: merging 60 → merged',
      'closer 2: queued 0 → now',
    ]);
    expect(play.stages()).toEqual([
      'issue-manager done',
      'prep done',
      'implementer done',
      'ci done ×3',
      'reviewer done ×2',
      'fixer done ×2',
      'validator done',
      'merge done',
      'closer now',
    ]);
    play.checkReplay();
  });

  it('show later stages, and a failed stage until its retry', () => {
    const play = new TimedWorkflow().turn('issue-manager').turn('prep').turn('implementer', { head: SHA });
    expect(play.stages().slice(3)).toEqual([
      'ci now',
      'reviewer ahead',
      'validator ahead',
      'merge ahead',
      'closer ahead',
    ]);
    play.check('failed');
    expect(play.stages().slice(3)).toEqual([
      'ci failed',
      'reviewer ahead',
      'fixer now',
      'validator ahead',
      'merge ahead',
      'closer ahead',
    ]);
    expect(play.stages(false)).toContain('ci failed');
  });

  it('leave out checks that the runbook does not require', () => {
    const play = new TimedWorkflow({ ciGate: false, checks: [] });
    expect(play.stages(false)).not.toContain('ci ahead');
    expect(play.stages(true)).toContain('ci ahead');
  });

  it('wait for a person at a checkpoint, at the stage that comes next', () => {
    const play = new TimedWorkflow({}, 'semi').turn('issue-manager').turn('prep').wait(5000);
    expect(play.visits.at(-1)).toBe('implementer 0: waiting 5 → now');
    play.resolve(1).turn('implementer', { head: SHA });
    expect(play.visits.at(-2)).toBe('implementer 0: waiting 5, queued 1, running 60 → completed');
  });

  it('are not done if the task is cancelled, or sent back, before a session began', () => {
    const asked = new TimedWorkflow({}, 'semi').turn('issue-manager').turn('prep').wait(5000);
    asked.order(operate('cancel', 'not now', asked.id));
    expect(asked.visits.at(-1)).toBe('implementer 0: waiting 5 → cancelled');
    expect(asked.stages()).toEqual(['issue-manager done', 'prep done', 'implementer failed']);
    const sent = new TimedWorkflow({}, 'supervised').resolve(1).turn('issue-manager').wait(5000);
    const option = sent.decision().options.findIndex(({ action }) => action === 'send_back') + 1;
    sent.order({ kind: 'resolve-decision', command: { id: sent.decision().id, option, message: 'shorter' } });
    expect(sent.stages().slice(0, 3)).toEqual(['issue-manager now ×2', 'prep ahead', 'implementer ahead']);
  });

  it('wait for a person when a blocked workflow asks', () => {
    const play = new TimedWorkflow().turn('issue-manager');
    const caller = play.claim('prep');
    play.say({ kind: 'update-task', command: { task_id: play.id, status: 'blocked', notes: 'no disk' } }, caller);
    play.wait(7000);
    expect(play.visits.at(-1)).toBe('prep 0: queued 1, running 60, waiting 7 → blocked');
    // The task stays blocked, without an open decision.
    play.resolve(2).wait(1000);
    expect(play.visits.at(-1)).toBe('prep 0: queued 1, running 60, waiting 7, blocked 1 → blocked');
  });

  it('leave out the time in the backlog, before the task became a workflow', () => {
    const play = new Play({ ciGate: true, checks: [{ name: 'unit', run: 'true' }] }).order(create()).wait(1000);
    play.order({ kind: 'start-workflow', command: { tasks: ['A'], mode: 'autonomous' } });
    const stages = listStages(listVisits(timelineOf(play), play.at), { isWorkflow: true, hasChecks: true });
    expect(stages.map(({ name, status }) => `${name} ${status}`).slice(0, 3)).toEqual([
      'issue-manager now',
      'prep ahead',
      'implementer ahead',
    ]);
    expect(stages).toHaveLength(8);
  });

  it('put a role of the runbook between review and validation', () => {
    const visit = { role: null, phase: 'REVIEW', round: 0, holder: null, epoch: null, outcome: null, ms: {} } as const;
    const at = { from: 'T1', to: 'T2', activity: 'running' } as const;
    const visits = [
      { ...visit, ...at, stage: 'reviewer' },
      { ...visit, ...at, stage: 'security', to: null },
    ];
    const names = listStages(visits, { isWorkflow: true, hasChecks: true }).map(({ name }) => name);
    expect(names).toEqual(['reviewer', 'security', 'validator', 'merge', 'closer']);
    expect(listStages(visits, { isWorkflow: false, hasChecks: true }).map(({ name }) => name)).toEqual([
      'reviewer',
      'security',
    ]);
  });
});
