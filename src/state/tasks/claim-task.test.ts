import { describe, expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import type { Command } from '../decide.ts';
import { event, type Event, type HowClaimEnded } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import * as say from '../say.cases.ts';
import {
  claim,
  create,
  ended,
  expire,
  moved,
  operator,
  release,
  session,
  system,
  update,
  worker,
} from '../say.cases.ts';

const made: Step[] = [[create(), operator]];
const held: Step[] = [...made, [claim(), worker]];
const review: Step[] = [[create('A', { phase: 'READY_FOR_REVIEW', nextRole: 'reviewer' }), operator]];

it('refuses a holder or a role that is not a name, because each claim keeps them', () => {
  const long = 'x'.repeat(201);
  for (const more of [{ holder: long }, { role: long }])
    given([[create(), operator]])
      .when(claim('A', 's1', more), worker)
      .thenRefused('too-long');
  given([])
    .when({ kind: 'create-task', command: { id: 'A', title: 'x'.repeat(4001) } }, operator)
    .thenRefused('too-long');
});

describe('a claim', () => {
  it('is the exclusive right to work on a task', () => {
    const claimed = event('TaskClaimed', {
      task_id: 'A',
      epoch: 1,
      session_id: 's1',
      holder: 'holder of s1',
      principal: 'worker:bob',
      role: null,
      requires: [],
    });
    expect(given(made).when(claim(), worker).then([claimed]).answer).toEqual({ epoch: 1 });
    given(held).when(claim('A', 's2'), worker).thenRefused('task A is claimed by holder of s1');
  });

  it('has an epoch larger than that of every claim before it', () => {
    const again = given([...held, [release(), session()]])
      .when(claim('A', 's2'), worker)
      .thenTypes(['TaskClaimed']);
    expect(again.answer).toEqual({ epoch: 2 });
    expect(again.task('A')).toMatchObject({ epoch: 2, claim: { epoch: 2, sessionId: 's2' } });
  });

  it('creates its own session: no session works under two claims', () => {
    given([...held, [create('B'), operator]])
      .when(claim('B', 's1'), worker)
      .thenRefused('session-exists');
    given([...held, [release(), session()]])
      .when(claim('A', 's1'), worker)
      .thenRefused('session-exists');
  });

  it('is for the role that works next, if there is one', () => {
    given(review)
      .when(claim('A', 's1', { role: 'fixer' }), worker)
      .thenRefused('task A waits for the role reviewer, not fixer');
    given(review)
      .when(claim('A', 's1', { role: 'reviewer' }), worker)
      .thenTypes(['TaskClaimed', 'PhaseMoved']);
    given(review).when(claim('A', 's1'), operator).thenTypes(['TaskClaimed', 'PhaseMoved']);
    given(made)
      .when(claim('A', 's1', { role: 'anything' }), worker)
      .thenTypes(['TaskClaimed']);
  });

  it('is refused for a missing, blocked or done task', () => {
    given(made).when(claim('X'), worker).thenRefused('there is no task X');
    given([...made, [update('blocked', { notes: 'no key' }), operator]])
      .when(claim(), worker)
      .thenRefused('task A is BLOCKED (no key)');
    given([...made, [say.operate('waive'), operator]])
      .when(claim(), worker)
      .thenRefused('task A is COMPLETED');
  });

  it('on a completed task is for the role that closes it, and changes no status', () => {
    const merged: Step[] = [
      ...made,
      moved('IMPLEMENTATION', 'COMPLETED', { cause: 'merged', reason: 'merged' }, 'closer'),
    ];
    given(merged).when(claim('A', 's1'), worker).thenRefused('not-workable');
    const { task } = given(merged)
      .when(claim('A', 's1', { role: 'closer' }), worker)
      .thenTypes(['TaskClaimed']);
    expect(task('A').phase).toBe('COMPLETED');
    given([...merged, [claim('A', 's1', { role: 'closer' }), worker]])
      .when(claim('A', 's2', { role: 'closer' }), worker)
      .thenRefused('already-claimed');
  });
});

describe('a review', () => {
  const reviewing: Step[] = [...review, [claim('A', 's1', { role: 'reviewer' }), worker]];

  it('begins in the transaction of its claim', () => {
    const inReview = moved(
      'READY_FOR_REVIEW',
      'REVIEW',
      { cause: 'review-began', reason: 'claimed for review' },
      'reviewer',
    );
    const { task } = given(review)
      .when(claim('A', 's1', { role: 'reviewer' }), worker)
      .then([
        event('TaskClaimed', {
          task_id: 'A',
          epoch: 1,
          session_id: 's1',
          holder: 'holder of s1',
          principal: 'worker:bob',
          role: 'reviewer',
          requires: [],
        }),
        inReview,
      ]);
    expect(task('A').phase).toBe('REVIEW');
  });

  it.each<[HowClaimEnded, Command, Caller, Event]>([
    ['released', release(), session(), ended('ClaimReleased')],
    ['released', update('todo'), session(), ended('ClaimReleased')],
    ['revoked', release(), operator, ended('ClaimRevoked', 'revoked by an operator')],
    ['expired', expire(), system, ended('ClaimExpired', 'not renewed in time')],
  ])('that ends %s returns to READY_FOR_REVIEW, for the next reviewer', (how, command, caller, end) => {
    const back = moved(
      'REVIEW',
      'READY_FOR_REVIEW',
      { cause: 'review-ended', reason: `the review ended: ${how}` },
      'reviewer',
    );
    given(reviewing).when(command, caller).then([end, back]);
  });

  it('that was claimed in REVIEW stays there', () => {
    given([
      [create('A', { phase: 'REVIEW' }), operator],
      [claim(), worker],
    ])
      .when(release(), session())
      .then([ended('ClaimReleased')]);
  });
});

describe('a claim ends exactly once', () => {
  const recorded: Step[] = [...held, [say.record(), session()]];
  const ends: [HowClaimEnded, Step[], Command, Caller][] = [
    ['completed', recorded, update('done'), session()],
    ['completed', held, say.exit(), session()],
    ['blocked', held, update('blocked', { notes: 'no key' }), session()],
    ['blocked', held, say.exit('IMPLEMENTATION', 'blocked'), session()],
    ['failed', held, say.exit('IMPLEMENTATION', 'error'), session()],
    ['released', held, release(), session()],
    ['expired', held, expire(), system],
    ['revoked', held, release(), operator],
    ['revoked', held, say.record({ status: 'todo' }), operator],
    ['revoked', held, say.operate('cancel'), operator],
  ];

  it.each(ends)('%s, and the next session sees how', (how, before, command, caller) => {
    const after = given([...before, [command, caller]]);
    expect(after.task('A').claim).toBeNull();
    expect(after.task('A').endings).toMatchObject([{ epoch: 1, sessionId: 's1', holder: 'holder of s1', how }]);
    const writes = [release(), update('in_progress'), update('done'), say.record(), say.handoff(), say.result()];
    for (const write of writes) after.when(write, session()).thenRefused(`the claim on A has ended: ${how}`);
    after.when(expire(), system).thenRefused('task A has no live claim of epoch 1');
    after.when(release('A', { epoch: 1 }), operator).thenRefused('claim-ended');
  });
});

describe('a write under an old claim', () => {
  const newer: Step[] = [...held, [expire(), system], [claim('A', 's2'), worker]];

  it.each([
    release(),
    update('done'),
    update('in_progress'),
    say.record(),
    say.complete(),
    say.handoff(),
    say.result(),
  ])('is refused: $kind', (command) => {
    given(newer).when(command, session()).thenRefused('stale claim: epoch 1 < 2');
  });

  it('is refused to a caller who names it, too', () => {
    given(newer).when(expire('A', 1), system).thenRefused('stale claim: epoch 1 < 2');
    given(newer)
      .when(release('A', { epoch: 1 }), operator)
      .thenRefused('stale claim: epoch 1 < 2');
    given(newer).when(say.record({}, 1), operator).thenRefused('stale claim: epoch 1 < 2');
    given(newer).when(expire('A', 3), system).thenRefused('task A has no live claim of epoch 3');
    given(newer).when(release(), operator).thenTypes(['ClaimRevoked']);
  });

  it('is refused to a session that never had it', () => {
    given(held).when(release(), session('s9')).thenRefused('claim-ended');
  });

  it('is refused if it is about another task', () => {
    given([...held, [create('B'), operator]])
      .when(release('B'), session())
      .thenRefused('this session works on A, not on B');
  });
});
