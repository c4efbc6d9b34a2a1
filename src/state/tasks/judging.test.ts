import { describe, expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import { event } from '../event.ts';
import * as say from '../say.cases.ts';
import { operator, session, SHA, worker } from '../say.cases.ts';
import { askMerge, prepareMerge } from '../workflow/say.cases.ts';

const OTHER = 'f'.repeat(40);
const cleo: Caller = { kind: 'worker', name: 'cleo' };
const gated = { ...OPEN, mergeGate: true };

/** bob implements, records and hands on; the task waits for review. */
const written: Step[] = [
  [say.create(), operator],
  [say.claim('A', 's1', { holder: 'ada' }), worker],
  [say.record(), session()],
  [say.exit(), session()],
  [say.claim('A', 's2'), worker],
  [say.exit('CI_PENDING'), session('s2', 'A', 2)],
];
const approved: Step[] = [...written, [say.claim('A', 's3'), cleo], [say.exit('REVIEW'), session('s3', 'A', 3)]];
const selfApprove = (reason = 'alone in this project') =>
  ({ kind: 'self-approve', command: { id: 'A', reason } }) as const;

describe('the author of a change', () => {
  it('cannot claim it for review or for the merge, whatever the claim is called', () => {
    for (const holder of ['ada', 'eve', 'reviewer'])
      given(written)
        .when(say.claim('A', 's9', { holder }), worker)
        .thenRefused('separation-of-duties');
    given(approved).when(say.claim('A', 's9'), worker).thenRefused('separation-of-duties');
    given(written)
      .when(say.claim('A', 's9', { holder: 'ada' }), cleo)
      .thenTypes(['TaskClaimed', 'PhaseMoved']);
  });

  it('stays its author after the work restarts, and after another principal has fixed it', () => {
    const again: Step[] = [
      ...written,
      [say.operate('reinstate'), operator],
      [say.claim('A', 's3'), cleo],
      [say.record({ commit_sha: OTHER }), session('s3', 'A', 3)],
      [say.exit(), session('s3', 'A', 3)],
      [say.claim('A', 's4'), cleo],
      [say.exit('CI_PENDING'), session('s4', 'A', 4)],
    ];
    for (const caller of [worker, cleo])
      given(again).when(say.claim('A', 's9'), caller).thenRefused('separation-of-duties');
  });

  it('is any principal that records another commit than the one under review: its claim cannot approve', () => {
    const reviewing: Step[] = [...written, [say.claim('A', 's3', { role: 'reviewer' }), cleo]];
    const caller = session('s3', 'A', 3);
    const changed: Step[] = [...reviewing, [say.record({ commit_sha: OTHER }), caller]];
    given(changed).when(say.exit('REVIEW'), caller).thenRefused('separation-of-duties');
    given(changed).when(say.update('done'), caller).thenRefused('separation-of-duties');
    const verdict = say.handoff({ from: 'reviewer-agent', senderRole: 'reviewer', phase: 'READY_FOR_MERGE' });
    given(changed).when(verdict, caller).thenRefused('separation-of-duties');
    // A record of the commit under review does not count as work on it.
    given([...reviewing, [say.record(), caller]])
      .when(say.exit('REVIEW'), caller)
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    // Any principal may reject the work.
    given(changed)
      .when(say.exit('REVIEW', 'blocked'), caller)
      .thenTypes(['AgentSessionCompleted', 'ClaimBlocked', 'PhaseMoved']);
  });

  it('may complete a task straight from IMPLEMENTATION in a project without gates', () => {
    const recorded: Step[] = [
      [say.create(), operator],
      [say.claim(), worker],
      [say.record(), session()],
    ];
    given(recorded).when(say.update('done'), session()).thenTypes(['ClaimCompleted', 'PhaseMoved']);
  });

  it('may review if the runbook allows the same agent', () => {
    given(written, { ...OPEN, sameAgentMayReview: true })
      .when(say.claim('A', 's9'), worker)
      .thenTypes(['TaskClaimed', 'PhaseMoved']);
  });
});

describe('an operator', () => {
  /** The same steps by an operator. */
  const own: Step[] = written.map((step) =>
    Array.isArray(step) && step[1] === worker ? [step[0], operator] : step,
  ) as Step[];

  it('approves nothing of their own by any path: claim, handoff, completion, merge', () => {
    given(own).when(say.claim('A', 's9'), operator).thenRefused('separation-of-duties');
    given(own).when(say.update('done'), operator).thenRefused('separation-of-duties');
    given(own).when(say.complete(), operator).thenRefused('separation-of-duties');
    const verdict = say.handoff({ from: 'reviewer-agent', senderRole: 'reviewer', phase: 'READY_FOR_MERGE' });
    given(own).when(verdict, operator).thenRefused('separation-of-duties');
    const ready: Step[] = [...own, say.moved('READY_FOR_REVIEW', 'READY_FOR_MERGE', { cause: 'decision', reason: '' })];
    given(ready, gated).when(askMerge('A'), operator).thenRefused('separation-of-duties');
  });

  it('does so with a reason, which is recorded and valid for this commit only', () => {
    const recorded = event('SelfApproved', {
      task_id: 'A',
      by: 'operator:ann',
      head: SHA,
      reason: 'alone in this project',
    });
    given(own).when(selfApprove(), operator).then([recorded]);
    given([...own, recorded])
      .when(say.claim('A', 's9'), operator)
      .thenTypes(['TaskClaimed', 'PhaseMoved']);
    given([...own, recorded])
      .when(selfApprove(), operator)
      .then([]);
    // The session of that claim has the same principal.
    const claimed: Step[] = [...own, recorded, [say.claim('A', 's3'), operator]];
    given(claimed)
      .when(say.exit('REVIEW'), session('s3', 'A', 3))
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    const changed: Step[] = [...claimed, [say.record({ commit_sha: OTHER }), session('s3', 'A', 3)]];
    given([...changed, [say.exit('REVIEW'), session('s3', 'A', 3)]], gated)
      .when(askMerge('A'), operator)
      .thenRefused('later-record');
  });

  it('is the only one who can: neither a worker nor a session approves its own change with a reason', () => {
    for (const caller of [worker, session('s2', 'A', 2)])
      given(written).when(selfApprove(), caller).thenRefused('forbidden');
    given(own).when(selfApprove(' '), operator).thenRefused('no-reason');
    given([[say.create(), operator]])
      .when(selfApprove(), operator)
      .thenRefused('nothing-to-approve');
  });

  it('merges their own change once another principal has approved this commit', () => {
    const reviewed: Step[] = [...own, [say.claim('A', 's3'), cleo], [say.exit('REVIEW'), session('s3', 'A', 3)]];
    given(reviewed, gated).when(askMerge('A'), operator).thenTypes(['MergeRequested']);
    const changed: Step[] = [...reviewed, [say.record({ commit_sha: OTHER }), operator]];
    given(changed, gated).when(askMerge('A'), operator).thenRefused('later-record');
  });
});

describe('an approval', () => {
  const waits = say.moved('READY_FOR_REVIEW', 'READY_FOR_REVIEW', { cause: 'handoff', reason: '' }, 'reviewer');
  const caller = session('s3', 'A', 3);
  const reviewing = (role?: string): Step[] => [
    ...written,
    waits,
    [say.claim('A', 's3', role === undefined ? {} : { role }), cleo],
    [say.record(), caller],
  ];

  it('requires the role that works next: a claim without a role cannot approve', () => {
    given(reviewing()).when(say.exit('REVIEW'), caller).thenRefused('wrong-role');
    given(reviewing()).when(say.update('done'), caller).thenRefused('wrong-role');
    given(reviewing()).when(say.complete(), caller).thenRefused('wrong-role');
    given(reviewing('reviewer'))
      .when(say.exit('REVIEW'), caller)
      .thenTypes(['AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
  });

  it('is all that requires the role: every claim may reject the work, and release the task', () => {
    given(reviewing())
      .when(say.exit('REVIEW', 'blocked'), caller)
      .thenTypes(['AgentSessionCompleted', 'ClaimBlocked', 'PhaseMoved']);
    given(reviewing()).when(say.update('todo'), caller).thenTypes(['ClaimReleased', 'PhaseMoved']);
  });
});

describe('a merge', () => {
  it('is for the holder of the claim in its role, an operator or the engine', () => {
    given(approved, gated).when(askMerge('A'), session()).thenRefused('stale-claim');
    given(approved, gated)
      .when(askMerge('A'), session('s3', 'A', 3))
      .thenRefused('claim-ended');
    given(approved, gated).when(askMerge('A'), operator).thenTypes(['MergeRequested']);
    const validating: Step[] = [...approved, [say.claim('A', 's4'), cleo]];
    given(validating, gated).when(askMerge('A'), operator).thenRefused('already-claimed');
    given(validating, gated)
      .when(askMerge('A'), session('s4', 'A', 4))
      .thenTypes(['MergeRequested', 'ClaimCompleted']);
    const waits = say.moved('READY_FOR_MERGE', 'READY_FOR_MERGE', { cause: 'handoff', reason: '' }, 'validator');
    const roleless: Step[] = [...approved, waits, [say.claim('A', 's4'), cleo]];
    given(roleless, gated)
      .when(askMerge('A'), session('s4', 'A', 4))
      .thenRefused('wrong-role');
  });

  it('is refused while a decision about the task is open, for every caller, even after the request', () => {
    const asked = (action: 'retry' | 'dismiss') =>
      event('DecisionOpened', {
        decision_id: 'd1',
        source: 'reconcile',
        title: 'A does not match git',
        context: '',
        options: [{ label: 'x', action, recommended: true }],
        agent_id: null,
        pipeline_id: null,
        task_id: 'A',
      });
    const open: Step[] = [...approved, asked('retry')];
    for (const caller of [operator, say.system])
      given(open, gated).when(askMerge('A'), caller).thenRefused('decision-open');
    given(open, gated).when(say.claim('A', 's9'), cleo).thenRefused('decision-open');
    const answered = event('DecisionResolved', { decision_id: 'd1', option: 1, action: 'dismiss', message: null });
    given([...open, answered], gated)
      .when(askMerge('A'), operator)
      .thenTypes(['MergeRequested']);
    const merging: Step[] = [...approved, [askMerge('A'), operator], asked('retry')];
    given(merging, gated).when(prepareMerge('m1', OTHER), say.system).thenRefused('decision-open');
    given([...merging, answered], gated)
      .when(prepareMerge('m1', OTHER), say.system)
      .thenTypes(['MergePrepared']);
    // A notice that can only be dismissed does not hold the task.
    given([...approved, asked('dismiss')], gated)
      .when(askMerge('A'), operator)
      .thenTypes(['MergeRequested']);
  });

  it('is refused for a commit that was first recorded after the review', () => {
    const bare: Step[] = [[say.create('A', { phase: 'READY_FOR_MERGE' }), operator]];
    const chosen: Step[] = [...bare, [say.claim(), worker], [say.record(), session()]];
    given(chosen, gated).when(askMerge('A'), session()).thenRefused('unreviewed');
    // The validator's handoff and exit are refused as well.
    const validating: Step[] = [
      ...bare,
      [say.claim('A', 's1', { role: 'validator' }), worker],
      [say.record(), session()],
    ];
    const done = say.handoff({ from: 'validator-agent', senderRole: 'validator', phase: 'COMPLETED' });
    given([...validating, [done, session()]], gated)
      .when(say.exit('READY_FOR_MERGE'), session())
      .thenRefused('unreviewed');
    const byHand: Step[] = [...bare, [say.record(), operator]];
    given(byHand, gated).when(askMerge('A'), operator).thenRefused('unreviewed');
    given([...byHand, [selfApprove(), operator]], gated)
      .when(askMerge('A'), operator)
      .thenTypes(['MergeRequested']);
  });

  it('of a later recorded commit is refused, until the record and the reviewed commit agree', () => {
    const later: Step[] = [...approved, [say.record({ commit_sha: OTHER }), operator]];
    given(later, gated).when(askMerge('A'), operator).thenRefused('later-record');
    given([...later, [say.record({ commit_sha: SHA.toUpperCase() }), operator]], gated)
      .when(askMerge('A'), operator)
      .thenTypes(['MergeRequested']);
  });
});

describe('a principal', () => {
  it('is read from the token, and recorded with the claim and its end', () => {
    const { task } = given(written);
    expect(task('A').endings.map(({ holder, principal }) => [holder, principal])).toEqual([
      ['ada', 'worker:bob'],
      ['holder of s2', 'worker:bob'],
    ]);
    expect(task('A').flow.authors).toEqual(['worker:bob']);
  });
});
