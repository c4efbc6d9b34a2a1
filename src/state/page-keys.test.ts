import { describe, expect, it } from 'vitest';
import { splitActor } from './caller.ts';
import { event } from './event.ts';
import { given, OPEN, type Step } from './given.cases.ts';
import * as say from './say.cases.ts';
import { addPageKey, ofPage, operator, PAGE_KEY, session, worker } from './say.cases.ts';

const revoke = { kind: 'revoke-page-key', command: { key_id: PAGE_KEY, reason: 'lost' } } as const;
const revoked = event('PageKeyRevoked', { key_id: PAGE_KEY, reason: 'lost' });

describe('the key of a page', () => {
  it('is named once, and revoked once', () => {
    given([]).when(addPageKey, operator).thenTypes(['PageKeyAdded']);
    const named: Step[] = [[addPageKey, operator]];
    given(named).when(addPageKey, operator).then([]);
    given(named).when(revoke, say.system).then([revoked]);
    given([...named, revoked])
      .when(revoke, operator)
      .then([]);
  });

  it('is not named again after it was revoked', () => {
    given([[addPageKey, operator], revoked])
      .when(addPageKey, operator)
      .thenRefused('bad-page-key');
  });

  it('writes nothing more after it was revoked, not even by a command in flight', () => {
    const named: Step[] = [[addPageKey, operator]];
    given(named).when(say.create(), ofPage).thenTypes(['TaskCreated']);
    given([...named, revoked])
      .when(say.create(), ofPage)
      .thenRefused('bad-page-key');
    given([...named, revoked])
      .when(say.create(), operator)
      .thenTypes(['TaskCreated']);
  });

  it('is not revoked in a ledger that does not name it', () => {
    given([]).when(revoke, operator).then([]);
  });
});

describe('an actor of the ledger', () => {
  it('is split into the operator and the page or editor', () => {
    expect(splitActor(`operator:ann/${PAGE_KEY}`)).toEqual({ actor: 'operator:ann', via: PAGE_KEY });
    const via = 'acp-code-oss-12-0a1b2c3d';
    expect(splitActor(`operator:ann/${via}`)).toEqual({ actor: 'operator:ann', via });
  });

  it.each(['operator:ann', 'operator:ops/ann', 'operator:page-3-0a1b2c3d', 'session:a/page-3-0a1b2c3d', 'system:main'])(
    'without a page stays as it is: %s',
    (actor) => {
      expect(splitActor(actor)).toEqual({ actor });
    },
  );
});

describe('an operator who acts through a page', () => {
  const OTHER = 'f'.repeat(40);
  const verdict = say.handoff({
    from: 'reviewer-agent',
    to: 'validator-agent',
    senderRole: 'reviewer',
    phase: 'READY_FOR_MERGE',
  });
  /** The operator implements by hand and hands the task to review. */
  const written = (author: typeof operator): Step[] => [
    [say.create(), operator],
    [say.record({ commit_sha: OTHER }), author],
    ...reviewable,
  ];
  const reviewable: Step[] = [
    [say.claim('A', 's1'), worker],
    [say.exit(), session()],
    [say.claim('A', 's2'), worker],
    [say.exit('CI_PENDING'), session('s2', 'A', 2)],
  ];

  it('is the same author as in a terminal', () => {
    const { state } = given(written(ofPage));
    expect(state.tasks.get('A')?.flow.authors).toContain('operator:ann');
  });

  it.each([
    ['the page', 'a terminal', ofPage, operator],
    ['a terminal', 'the page', operator, ofPage],
  ])('does not judge work of %s from %s', (_from, _to, author, judge) => {
    given(written(author)).when(verdict, judge).thenRefused('separation-of-duties');
    given(written(author)).when(say.claim('A', 's9'), judge).thenRefused('separation-of-duties');
    given(written(author)).when(say.update('done'), judge).thenRefused('separation-of-duties');
  });

  it('approves as the same principal', () => {
    const approval = (judge: typeof operator) => {
      const { state } = given([[say.create(), operator], ...reviewable, [verdict, judge]], OPEN);
      return state.tasks.get('A')?.flow.approval;
    };
    expect(approval(ofPage)).toMatchObject({ principal: 'operator:ann' });
    expect(approval(ofPage)).toEqual(approval(operator));
  });

  it('approves their own work as the same person, wherever they do it', () => {
    const approved: Step[] = [
      ...written(operator),
      [{ kind: 'self-approve', command: { id: 'A', reason: 'alone' } }, ofPage],
    ];
    given(approved).when(say.claim('A', 's9'), operator).thenTypes(['TaskClaimed', 'PhaseMoved']);
  });

  it('ends the audit that they began in a terminal', () => {
    const verify = { kind: 'verify-audit', command: { auditId: 'a1', size: 4, root: 'ff' } } as const;
    given([[say.startAudit('a1', null), operator]])
      .when(verify, ofPage)
      .thenTypes(['AuditChainVerified']);
    const { state } = given([
      [say.create(), operator],
      [say.startAudit('a1', null), ofPage],
      [say.record(), operator],
    ]);
    expect(state.openAudits.size).toBe(0);
  });
});
