import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../ledger/format/canonical-json.ts';
import { LEDGER_LIMITS } from '../../ledger/format/limits.ts';
import type { EvidenceBundle } from '../../protocol/evidence.ts';
import { event, type EventOf } from '../event.ts';
import { given, OPEN, type Step } from '../given.cases.ts';
import { claim, create, exit, handoff, moved, operator, record, session, SHA, worker } from '../say.cases.ts';
import { evidenceRecordedEvent, type SessionEvidence } from './record-evidence.ts';

const BLOB = `sha256:${'0'.repeat(64)}`;
const held: Step[] = [
  [create(), operator],
  [claim(), worker],
];

const evidence = (more: Partial<EvidenceBundle> = {}): SessionEvidence => ({
  ref: 'evidence/a.yaml',
  blob: BLOB,
  bundle: {
    task_id: 'A',
    phase: 'IMPLEMENTATION',
    head_sha: SHA,
    commands: [{ run: 'npm test', exit_code: 0, output_sha256: 'f'.repeat(64) }],
    files: [{ path: 'a.ts', action: 'modified' }],
    decisions: ['Trim before the check.'],
    failed_approaches: ['A pattern in the form: old browsers ignore it.'],
    next_step: 'Review it.',
    ...more,
  },
});

const recorded = event('EvidenceRecorded', {
  task_id: 'A',
  epoch: 1,
  session_id: 's1',
  ref: 'evidence/a.yaml',
  blob: BLOB,
  head_sha: SHA,
  commands: [{ run: 'npm test', exit_code: 0 }],
  decisions: ['Trim before the check.'],
  failed_approaches: ['A pattern in the form: old browsers ignore it.'],
  next_step: 'Review it.',
});

describe('the evidence of a session', () => {
  const shown = exit('IMPLEMENTATION', 'completed', { evidence: evidence() });

  it('is recorded in the transaction that ends the session', () => {
    given(held)
      .when(shown, session())
      .thenTypes(['EvidenceRecorded', 'AgentSessionCompleted', 'ClaimCompleted', 'PhaseMoved']);
    expect(recordedOf()).toEqual(recorded);
  });

  it.each([
    ['blocked', exit('IMPLEMENTATION', 'blocked', { evidence: evidence() }), 'ClaimBlocked'],
    ['error', exit('IMPLEMENTATION', 'error', { evidence: evidence() }), 'ClaimFailed'],
    ['violated', exit('IMPLEMENTATION', 'completed', { evidence: evidence(), violations: ['x'] }), 'ClaimFailed'],
  ] as const)('is recorded however the session ends: %s', (_, signal, type) => {
    given(held).when(signal, session()).thenTypes(['EvidenceRecorded', 'AgentSessionCompleted', type, 'PhaseMoved']);
  });

  it('is recorded when the validator asks for the merge', () => {
    const measured = { base: SHA, head: SHA, commits: 1, file_count: 0, files: [], new_dependencies: [], broken: [] };
    const closer = {
      senderRole: 'validator',
      from: 'validator-agent',
      phase: 'COMPLETED',
      nextRole: 'closer',
    } as const;
    const validating: Step[] = [
      ...held,
      [record(), session()],
      [exit('IMPLEMENTATION', 'completed', { measured }), session()],
      moved('CI_PENDING', 'READY_FOR_MERGE', { cause: 'handoff', reason: 'approved' }, 'validator'),
      [claim('A', 's2', { role: 'validator' }), { kind: 'worker', name: 'val' }],
      [handoff(closer), session('s2', 'A', 2)],
    ];
    given(validating, { ...OPEN, mergeGate: true })
      .when(exit('READY_FOR_MERGE', 'completed', { evidence: evidence() }), session('s2', 'A', 2))
      .thenTypes(['EvidenceRecorded', 'AgentSessionCompleted', 'MergeRequested', 'ClaimCompleted']);
  });

  it('is recorded once: a repeat gets the first answer', () => {
    given([...held, [shown, session()]])
      .when(shown, session())
      .then([]);
  });

  it('is not recorded if the signal is refused', () => {
    given(held)
      .when(exit('REVIEW', 'completed', { evidence: evidence() }), session())
      .thenRefused('phase-mismatch');
  });
});

describe('the entry', () => {
  it('has no lists if the bundle has none', () => {
    const { decisions: _, failed_approaches: __, ...bundle } = evidence().bundle;
    expect(recordedOf({ ...evidence(), bundle })).toMatchObject({ data: { decisions: [], failed_approaches: [] } });
  });

  it('cuts long texts, and counts what it leaves out', () => {
    const { data } = recordedOf(
      evidence({ next_step: '𝒳'.repeat(900), decisions: Array.from({ length: 500 }, () => 'd'.repeat(90)) }),
    );
    expect(data.next_step).toBe(`${'𝒳'.repeat(500)}…`);
    expect(data.decisions.length + (data.left_out ?? 0)).toBe(500);
    expect(data.decisions.length).toBeGreaterThan(100);
  });

  it.each(['x', '"', '\u0001', '漢', '👍'])(
    'stays below the limit of the ledger, whatever the bundle is made of: %j',
    (character) => {
      const long = character.repeat(40_000);
      const many = Array.from({ length: 1_000 }, () => long);
      const { data } = recordedOf({
        ...evidence({
          commands: many.map((run) => ({ run, exit_code: 255, output_sha256: 'f'.repeat(64) })),
          decisions: many,
          failed_approaches: many,
          next_step: long,
        }),
        ref: '"'.repeat(2_048),
      });
      const canonical = canonicalJson(data);
      const bytes = canonical.ok ? Buffer.byteLength(canonical.value) : 0;
      expect(bytes).toBeGreaterThan(30_000);
      // The envelope (project, actor, times, hashes) takes less than two kilobytes.
      expect(bytes).toBeLessThan(LEDGER_LIMITS.entryBytes - 2_048);
    },
  );
});

function recordedOf(shown: SessionEvidence = evidence()): EventOf<'EvidenceRecorded'> {
  const { task } = given(held);
  const { claim: live } = task('A');
  if (live === null) throw new Error('the claim is live');
  return evidenceRecordedEvent(task('A'), live, shown);
}
