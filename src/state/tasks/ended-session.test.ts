import { describe, expect, it } from 'vitest';
import { commandAccess, type CallerKind } from '../../protocol/command-access.ts';
import type { Command } from '../decide.ts';
import { given, type Step } from '../given.cases.ts';
import * as runs from '../runs/say.cases.ts';
import * as say from '../say.cases.ts';
import { operator, session, worker } from '../say.cases.ts';
import { askMerge } from '../workflow/say.cases.ts';

const ended: Step[] = [
  [say.create(), operator],
  [say.claim(), worker],
  [say.startAudit(), session()],
  [say.record(), session()],
  [say.exit(), session()],
];

/** One command of each kind that a session may send. */
const SENT: readonly Command[] = [
  say.create('Z'),
  say.release(),
  say.update('blocked', { notes: 'x' }),
  say.record(),
  say.complete(),
  say.result(),
  say.handoff(),
  say.startAudit('a2'),
  { kind: 'verify-audit', command: { auditId: 'a1', size: 1, root: '' } },
  askMerge('A'),
];
const OWN_RUN: ReadonlySet<string> = new Set(['exit-session', 'signal-agent', 'report-agent', 'seal']);

describe('the token of an ended session', () => {
  it.each(SENT.map((command) => [command.kind, command] as const))('changes nothing: %s', (_, command) => {
    given(ended).when(command, session()).thenRefused('claim-ended');
    given([...ended, [say.claim('A', 's2'), worker]])
      .when(command, session())
      .thenRefused('stale-claim');
  });

  it('is tested above with every command that a session may send, except those about its own run', () => {
    const table: readonly [string, readonly CallerKind[]][] = Object.entries(commandAccess);
    const kinds = table.flatMap(([kind, who]) => (who.includes('session') ? [kind] : []));
    expect(kinds.filter((kind) => !OWN_RUN.has(kind)).toSorted()).toEqual(SENT.map(({ kind }) => kind).toSorted());
  });

  it('gets the first answer to an exact repeat of its exit signal, and a refusal for another', () => {
    const again = given(ended).when(say.exit(), session()).then([]);
    expect(again.answer).toEqual({ next_phase: 'CI_PENDING', exit_reason: 'completed' });
    given(ended).when(say.exit('IMPLEMENTATION', 'error'), session()).thenRefused('no-active-phase');
  });

  it('seals what is recorded, and signals for no task', () => {
    given(ended).when(say.seal, session()).then([]);
    given(ended).when(runs.signal('complete'), session()).then([]);
    given(ended).when(runs.signal('escalate'), session()).thenRefused('claim-ended');
  });
});
