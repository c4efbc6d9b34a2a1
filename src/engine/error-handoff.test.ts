import { describe, expect, it } from 'vitest';
import type { ExitReason } from '../protocol/phase.ts';
import type { WorkerPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { SHA } from '../state/say.cases.ts';
import * as flow from '../state/workflow/say.cases.ts';
import { Play } from './play.cases.ts';
import { WorkflowPlay } from './workflow.cases.ts';

interface Failure {
  readonly recoverable?: boolean;
  readonly reason?: ExitReason;
  readonly violations?: readonly string[];
}

const XML = flow.failure(true).replace('<details></details>', '<details>port 443 is closed</details>');

/** A session of the role reports an error, then ends. */
function fail(play: WorkflowPlay, role: string, failure: Failure = {}): WorkflowPlay {
  const caller = play.task.claim === null ? play.claim(role) : say.session(...holderOf(play));
  return report(play, role, caller, failure);
}

function holderOf({ task, id }: WorkflowPlay): [string, string, number] {
  return [task.claim?.sessionId ?? '', id, task.epoch];
}

function report<P extends Play>(
  play: P,
  role: string,
  caller: ReturnType<typeof say.session>,
  { recoverable = true, reason = 'error', violations = [] }: Failure,
): P {
  const { taskId, epoch } = caller;
  const from = role === 'issue-manager' ? role : `${role}-agent`;
  const to = { to: 'orchestrator', phase: 'BLOCKED', nextRole: role } as const;
  const xml = XML.replace('>true<', `>${recoverable}<`);
  play.say(say.handoff({ handoffId: `h${epoch}`, taskId, from, senderRole: role, ...to, xml }), caller);
  const phase = play.state.tasks.get(taskId)?.phase;
  return play.say(say.exit(phase, reason, { eventId: `e${epoch}`, violations }), caller);
}

/** Fires the retry timer, and returns how long the wait was. */
function retry(play: Play): number {
  const timer = play.owed('TimerSet').find(({ purpose }) => purpose.kind === 'unblock');
  if (timer === undefined) throw new Error(`there is no retry\n${play.story()}`);
  const ms = Date.parse(timer.due) - Date.parse(play.at);
  play.wait(ms).say(runs.fire(timer.timer_id));
  return ms;
}

const implementing = () => new WorkflowPlay().turn('issue-manager').turn('prep');
const WAYS: readonly (readonly [string, Failure])[] = [
  ['completed', { reason: 'completed' }],
  ['blocked', { reason: 'blocked' }],
  ['error', { reason: 'error' }],
  ['completed, with a violation', { reason: 'completed', violations: ['max_files: 9 > 3'] }],
];

describe.each(WAYS)('an error handoff, then an exit signal: %s', (_, failure) => {
  it('is retried by the same role after 1, 2 and 4 seconds if it is recoverable; then a person is asked', () => {
    const play = implementing();
    for (const ms of [1000, 2000, 4000]) {
      fail(play, 'implementer', failure);
      expect(play.stands()).toEqual(['BLOCKED', 'implementer']);
      expect(play.openDecisions()).toEqual([]);
      expect(retry(play)).toBe(ms);
      expect(play.stands()).toEqual(['IMPLEMENTATION', 'implementer']);
    }
    fail(play, 'implementer', failure);
    expect(play.owed('TimerSet')).toEqual([]);
    const { source, context, options } = play.decision();
    expect(source).toBe('error');
    expect(context.split('\n')).toEqual([
      '"Add a thing", written by operator:ann',
      'implementer-agent reported a recoverable error 4 times in a row.',
      'error:',
      '  type: NetworkError',
      '  message: no answer',
      '  details: port 443 is closed',
      '  recoverable: true',
      '  suggested_action: wait',
      'status: failure',
    ]);
    expect(options[0]).toMatchObject({ label: 'Retry from IMPLEMENTATION', action: 'retry' });
    play.resolve(1).turn('implementer', { head: SHA });
    expect(play.task.flow).toMatchObject({ retries: 0, error: null });
    play.checkReplay();
  });

  it('opens a decision with everything that was reported if it is not recoverable', () => {
    const play = fail(implementing(), 'implementer', { ...failure, recoverable: false });
    expect(play.owed('TimerSet')).toEqual([]);
    expect(play.decision().context).toMatch(
      /^"Add a thing", written by operator:ann\nimplementer-agent reported an error\.\n(?:.|\n)*NetworkError(?:.|\n)*no answer(?:.|\n)*port 443 is closed(?:.|\n)*wait/,
    );
    expect(play.task.blocked?.reason).toMatch(/^NetworkError: no answer; suggested action: wait/);
  });
});

describe('the role that reported an error', () => {
  it.each<[string, () => WorkflowPlay]>([
    ['issue-manager', () => new WorkflowPlay()],
    ['prep', () => new WorkflowPlay().turn('issue-manager')],
    ['implementer', implementing],
    ['reviewer', () => new WorkflowPlay().toReview()],
    ['validator', () => new WorkflowPlay().toMerge()],
  ] as const)('tries again, and the work goes on: %s', (role, begin) => {
    const play = begin();
    const { handoff } = play.task.flow;
    fail(play, role);
    expect(play.stands()).toEqual(['BLOCKED', role]);
    retry(play);
    expect(play.task.nextRole).toBe(role);
    expect(play.task.flow.handoff, 'its input is as before').toEqual(handoff);
    const head = role === 'implementer' ? { head: SHA } : {};
    play.turn(role as 'prep', head);
    expect(play.task.flow).toMatchObject({ retries: 0, error: null });
    play.checkReplay();
  });

  it('has all its attempts again after a success', () => {
    const play = new WorkflowPlay().turn('issue-manager');
    fail(play, 'prep');
    expect(retry(play)).toBe(1000);
    fail(play, 'prep');
    expect(retry(play)).toBe(2000);
    play.turn('prep');
    fail(play, 'implementer');
    expect(retry(play)).toBe(1000);
  });

  it('does not hide the next block while its retry is still due: a person is asked', () => {
    const play = fail(implementing(), 'implementer');
    play.say(say.operate('unblock', 'because', play.id), say.operator);
    fail(play, 'implementer', { recoverable: false });
    expect(play.stands()).toEqual(['BLOCKED', 'implementer']);
    expect(play.decision().context).toMatch('implementer-agent reported an error.');
    retry(play);
    expect(play.stands(), 'the timer was set for another session').toEqual(['BLOCKED', 'implementer']);
    play.checkReplay();
  });

  it('keeps its attempts for errors that a retry can solve', () => {
    const play = fail(implementing(), 'implementer', { recoverable: false });
    play.resolve(1);
    fail(play, 'implementer');
    expect(retry(play)).toBe(1000);
  });

  it('does not count as a reviewer that has reviewed', () => {
    const play = new WorkflowPlay().toReview();
    fail(play, 'reviewer');
    retry(play);
    expect(play.turn('reviewer').task.flow.reviews).toBe(1);
  });
});

describe('an error of the closer', () => {
  const worker: WorkerPlan = {
    name: 'closers',
    concurrency: 1,
    roles: ['closer'],
    plan: { kind: 'agent', agent: runs.agentPlan({ name: 'closer', role: 'closer', requires: ['handoff', 'exit'] }) },
  };

  it.each(WAYS)('leaves the task merged, and asks a person before the next attempt: %s', (_, failure) => {
    const play = new WorkflowPlay().order(runs.configure([worker]));
    play.toMerge().turn('validator').merge('merged', 'f'.repeat(40));
    fail(play, 'closer', failure);
    expect(play.stands()).toEqual(['COMPLETED', 'closer']);
    expect(play.task.claim, 'no session starts before the answer').toBeNull();
    expect(play.owed('TimerSet').filter(({ purpose }) => purpose.kind === 'unblock')).toEqual([]);
    expect(play.openDecisions()).toEqual([`Task needs attention: ${play.id} (closing failed)`]);
    expect(play.decision().context).toContain('message: no answer');
    expect(play.decision().context).toContain('suggested_action: wait');
    play.resolve(1);
    expect(play.task.claim).not.toBeNull();
    play.checkReplay();
  });
});

describe('an error handoff of a session that', () => {
  it('dies before its exit signal is dropped with the claim; a signal from the outbox brings it back', () => {
    const play = implementing();
    const roles = { role: 'implementer', requires: ['handoff', 'exit'] } as const;
    const agent = runs.agentPlan({ name: 'ada', ...roles, on_dead: { action: 'fail' } });
    play.order(
      runs.configure([{ name: 'adas', concurrency: 1, roles: ['implementer'], plan: { kind: 'agent', agent } }]),
    );
    const { agent_id: agentId } = play.newest('AgentRequested');
    const caller = say.session(...holderOf(play));
    const sent = { to: 'orchestrator', phase: 'BLOCKED', nextRole: 'implementer', xml: XML } as const;
    play.say(runs.started(agentId)).say(say.handoff({ taskId: play.id, ...sent }), caller);
    play.say(runs.exited(agentId, { code: 1 }));
    expect(play.newest('HandoffDropped')).toMatchObject({ to: 'orchestrator', reason: 'the claim ended: failed' });
    expect(play.task).toMatchObject({ phase: 'BLOCKED', flow: { retries: 0, error: null } });
    expect(play.openDecisions()).toEqual([`Task needs attention: ${play.id} is blocked`]);
    play.say(say.exit('IMPLEMENTATION', 'error'), { ...caller, keptAt: '2000-01-01T00:00:00.000Z' });
    expect(play.task.blocked?.reason).toBe('NetworkError: no answer; suggested action: wait');
    expect(retry(play)).toBe(1000);
  });

  it('holds a claim outside of a workflow is retried, and then asks a person, in the same way', () => {
    const play = new Play();
    play.order(say.create('A', { nextRole: 'implementer' }));
    for (const [at, ms] of [1000, 2000, 4000].entries()) {
      play.say(say.claim('A', `s${at + 1}`, { role: 'implementer' }), say.worker);
      report(play, 'implementer', say.session(`s${at + 1}`, 'A', at + 1), {});
      expect(retry(play)).toBe(ms);
      expect(play.state.tasks.get('A')?.phase).toBe('IMPLEMENTATION');
    }
    play.say(say.claim('A', 's4', { role: 'implementer' }), say.worker);
    report(play, 'implementer', say.session('s4', 'A', 4), {});
    expect(play.decision()).toMatchObject({ source: 'error', context: expect.stringContaining('message: no answer') });
    play.order({ kind: 'resolve-decision', command: { id: play.decision().id, option: 1 } });
    expect(play.state.tasks.get('A')?.phase).toBe('IMPLEMENTATION');
    play.checkReplay();
  });

  it('exits without an error handoff outside of a workflow opens no decision, as before', () => {
    const play = new Play();
    play.order(say.create()).say(say.claim(), say.worker).say(say.exit('IMPLEMENTATION', 'error'), say.session());
    expect(play.count('DecisionOpened')).toBe(0);
  });
});
