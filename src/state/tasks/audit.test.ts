import { describe, expect, it } from 'vitest';
import type { Command } from '../decide.ts';
import { event } from '../event.ts';
import { given, type Step } from '../given.cases.ts';
import { claim, create, operator, record, seal, session, startAudit, system, worker } from '../say.cases.ts';

const held: Step[] = [
  [create(), operator],
  [claim(), worker],
];
const audited: Step[] = [...held, [startAudit(), session()]];
const verify = (auditId = 'a1'): Command => ({ kind: 'verify-audit', command: { auditId, size: 4, root: 'ff' } });

describe('proof-grade work', () => {
  it('start, verify, record, seal', () => {
    given(held)
      .when(startAudit(), session())
      .then([event('AuditSessionStarted', { audit_id: 'a1', task_id: 'A' })]);
    given(audited)
      .when(verify(), session())
      .then([event('AuditChainVerified', { audit_id: 'a1', size: 4, root: 'ff' })]);
    given(audited).when(seal, session()).thenRefused('audit session a1 has no thought record yet');
    given([...audited, [record(), session()]])
      .when(seal, session())
      .then([]);
  });

  it('is settled by a record of its task, by any author', () => {
    given([...audited, [record({}, 1), operator]])
      .when(seal, session())
      .then([]);
    given([...audited, [create('B'), operator], [record({ task_id: 'B' }), operator]])
      .when(seal, session())
      .thenRefused('audit-open');
  });

  it('without a task is settled by a record of the auditor', () => {
    const open: Step[] = [...held, [startAudit('a1', null), session()]];
    given([...open, [record(), operator]])
      .when(seal, session())
      .thenRefused('audit-open');
    given([...open, [record(), session()]])
      .when(seal, session())
      .then([]);
  });

  it('binds only the auditor; operators and the workflow may always seal', () => {
    const two: Step[] = [...audited, [create('B'), operator], [claim('B', 's2'), worker]];
    for (const caller of [operator, system, session('s2', 'B')]) given(two).when(seal, caller).then([]);
    given([...held, [startAudit(), operator]])
      .when(seal, operator)
      .then([]);
  });

  it('of a session is about its own task, under its live claim', () => {
    const two: Step[] = [...held, [create('B'), operator]];
    given(two).when(startAudit('a1', 'B'), session()).thenRefused('wrong-task');
    given(two).when(startAudit('a1', 'X'), session()).thenRefused('there is no task X');
    given([...held, [{ kind: 'release-claim', command: { id: 'A' } }, session()]])
      .when(startAudit('a1', null), session())
      .thenRefused('claim-ended');
  });

  it('has its own id: no caller takes over another caller’s audit', () => {
    given(audited).when(startAudit(), operator).thenRefused('audit session a1 is open already');
    given(audited).when(verify(), operator).thenRefused('no-such-audit');
    given(audited).when(verify('a2'), session()).thenRefused('no-such-audit');
    expect(given([...audited, [record(), session()]]).state.openAudits.size).toBe(0);
  });
});
