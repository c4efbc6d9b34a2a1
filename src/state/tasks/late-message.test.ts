import { describe, expect, it } from 'vitest';
import type { Caller } from '../caller.ts';
import { createStory, given, OPEN, type Step } from '../given.cases.ts';
import * as say from '../say.cases.ts';
import { operator, session, worker } from '../say.cases.ts';

const BEFORE = '2000-01-01T00:00:00.000Z';
const AFTER = '2999-01-01T00:00:00.000Z';
const kept = (keptAt = BEFORE, epoch = 1): Caller => ({ ...session(`s${epoch}`, 'A', epoch), keptAt });

const held: Step[] = [
  [say.create(), operator],
  [say.claim('A', 's1', { role: 'implementer' }), worker],
];
const expired: Step[] = [...held, [say.handoff(), session()], [say.expire(), say.system]];

describe('a message that was kept while its claim lived', () => {
  it('counts after the claim has expired: the claim ends as in the message, with the handoff that it held', () => {
    const after = given(expired)
      .when(say.exit(), kept())
      .thenTypes(['ClaimRestored', 'AgentSessionCompleted', 'HandoffDelivered', 'ClaimCompleted', 'PhaseMoved']);
    expect(after.task('A')).toMatchObject({ phase: 'CI_PENDING', nextRole: 'reviewer', claim: null, lapsed: null });
  });

  it('is added to the lapsed claim if it does not end it, and counts for the next message', () => {
    const recorded = given(expired).when(say.record(), kept()).thenTypes(['ThoughtRecorded']);
    expect(recorded.task('A')).toMatchObject({ claim: null, flow: { head: say.SHA } });
    const sent: Step[] = [...expired, [say.result(), kept()], [say.record(), kept()]];
    given(sent)
      .when(say.update('done'), kept())
      .thenTypes(['ClaimRestored', 'HandoffDropped', 'ClaimCompleted', 'PhaseMoved']);
    const owing: Step[] = [
      [say.create(), operator],
      [say.claim('A', 's1', { requires: ['result'] }), worker],
      [say.expire(), say.system],
    ];
    given(owing).when(say.exit(), kept()).thenRefused('missing');
    given([...owing, [say.result(), kept()]])
      .when(say.exit(), kept())
      .thenTypes(['ClaimRestored', 'AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
  });

  it('returns a review to its former phase', () => {
    const reviewed: Step[] = [
      [say.create('A', { phase: 'READY_FOR_REVIEW' }), operator],
      [say.claim(), worker],
      [say.expire(), say.system],
    ];
    const after = given(reviewed)
      .when(say.exit('REVIEW'), kept())
      .thenTypes(['ClaimRestored', 'PhaseMoved', 'AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    expect(after.task('A').phase).toBe('READY_FOR_MERGE');
  });

  it('counts after the engine found the process gone, but not after a person ended the claim', () => {
    const story = createStory(OPEN);
    story.say(say.create(), operator);
    story.say(say.claim('A', 's1', { role: 'implementer' }), worker);
    story.record(
      [say.ended('ClaimFailed'), say.moved('IMPLEMENTATION', 'BLOCKED', { cause: 'run-ended', reason: 'x' })],
      'system:engine',
    );
    expect(story.state.tasks.get('A')?.lapsed).toMatchObject({ phase: 'IMPLEMENTATION' });
    story.say(say.exit(), kept());
    expect(story.state.tasks.get('A')).toMatchObject({ phase: 'CI_PENDING', blocked: null });
    given([...held, [say.release(), operator]])
      .when(say.exit(), kept())
      .thenRefused('no-active-phase');
    given([...held, [say.release(), operator]])
      .when(say.record(), kept())
      .thenRefused('claim-ended');
  });

  it.each<[string, Step[]]>([
    ['claimed by another', [[say.claim('A', 's2'), worker]]],
    ['cancelled', [[say.operate('cancel'), operator]]],
    ['reinstated', [[say.operate('reinstate'), operator]]],
    ['moved on by an operator', [[say.update('blocked', { notes: 'x' }), operator]]],
  ])('changes nothing once the task was %s', (_, since) => {
    const stale = given([...expired, ...since]);
    stale.when(say.exit(), kept()).thenRefused('no-active-phase');
    for (const command of [say.record(), say.update('done'), say.release()]) {
      const { task } = stale;
      const before = task('A');
      stale.when(command, kept()).thenRefused(before.epoch > 1 ? 'stale-claim' : 'claim-ended');
    }
  });

  it('changes nothing if it was put into the outbox after the end, or was not kept at all', () => {
    given(expired).when(say.exit(), kept(AFTER)).thenRefused('no-active-phase');
    given(expired).when(say.record(), kept(AFTER)).thenRefused('claim-ended');
    given(expired).when(say.exit(), session()).thenRefused('no-active-phase');
    const left: Step[] = [...held, [say.exit(), session()]];
    given(left).when(say.record(), kept()).thenRefused('claim-ended');
  });

  it('is judged like any other: an author still does not approve', () => {
    const author: Step[] = [
      ...held,
      [say.record(), session()],
      [say.exit(), session()],
      [say.claim('A', 's2'), worker],
      [say.exit('CI_PENDING'), session('s2', 'A', 2)],
      [say.claim('A', 's3'), { kind: 'worker', name: 'cleo' }],
      [say.record({ commit_sha: 'f'.repeat(40) }), session('s3', 'A', 3)],
      [say.expire('A', 3), say.system],
    ];
    given(author).when(say.exit('REVIEW'), kept(BEFORE, 3)).thenRefused('separation-of-duties');
  });
});
