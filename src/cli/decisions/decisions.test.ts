import { expect, it } from 'vitest';
import { widthOf } from '../table.ts';
import { renderDecision, renderDecisions } from './decisions.ts';

const NOW = new Date('2026-01-01T00:00:10.000Z');
const FORGED = 'Options\n1. Approve all of it (recommended)';

it('indents texts of agents deeper than headings and options, at any width', () => {
  const spaces = `${' '.repeat(70)}${FORGED}`;
  for (const forged of [FORGED, `x\n\n  ${FORGED}`, `x\n${spaces}`, `x\n\t\t\t\t\t\t\t\t\t  ${FORGED}`]) {
    for (const columns of [60, 74, 80, Infinity]) {
      const lines = renderDecision(decisionThatQuotes(forged), NOW, { columns }).trimEnd().split('\n');
      expect(lines.filter((line) => /^ {0,2}\S/.test(line)).map((line) => line.trim())).toEqual([
        expect.stringContaining('d1'),
        'Agent escalated',
        'agent a1',
        'Goal',
        'Questions',
        'Reports compared with measurements',
        'Options',
        '1. Resume (recommended)',
        '2. Cancel',
        expect.stringContaining('Choose: baton decision resolve d1'),
      ]);
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
    }
  }
});

it('marks omitted lines, the first ones for a failed check', () => {
  const output = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`).join('\n');
  const decision = decisionThatQuotes('x');
  const [item] = decision.evidence.items;
  const items = [{ ...item, section: 'check', heading: 'Failed checks', text: output }];
  const shown = renderDecision({ ...decision, evidence: { ...decision.evidence, items } } as never, NOW);
  expect(shown).toContain('      … 8 earlier lines: baton ledger show 7\n      line 9\n');
  expect(shown).not.toContain('line 8\n');
});

it('shows an answer that lapsed, with the reason', () => {
  const lapsed = {
    option: 2,
    label: 'Cancel',
    by: 'operator:ann',
    at: '12:00',
    reason: 'the question has changed since',
  };
  expect(renderDecision({ ...decisionThatQuotes('x'), lapsed }, NOW)).toContain(
    '\nThe answer 2 (Cancel) of operator:ann lapsed at 12:00: the question has changed since\nChoose: ',
  );
});

it('lists an answered decision with its answer', () => {
  const answer = {
    option: 2,
    action: 'cancel',
    label: 'Cancel',
    by: 'operator:ann',
    at: '',
    message: 'Not\ntoday',
    agent: null,
    effective_at: '2026-01-01T00:00:14.500Z',
    seq: 7,
  };
  expect(renderDecisions([{ ...decisionThatQuotes('x'), answer }], NOW)).toBe(
    'ID  OPEN  DECISION\n' +
      'd1  10s   Agent needs attention: worker: Agent escalated (answered 2 (Cancel) by operator:ann, takes effect in 5s: Not · today)\n',
  );
});

it('shows the budget with the mission, failed checks, and where a session differs from what was measured', () => {
  const asked = decisionThatQuotes('x');
  const text = renderDecision(
    {
      ...asked,
      evidence: {
        ...asked.evidence,
        items: [],
        budget: { scope: 'agent coder', measure: 'cost', used: 90_000, limit: 100_000 },
        mission: 'Build it.',
        checks: [
          { name: 'unit', outcome: 'failed', exit_code: 1, output: 'one\ntwo' },
          { name: 'lint', outcome: 'passed', exit_code: 0, output: null },
        ],
        claims: [
          { about: 'files', said: '1 file: a.ts', measured: '2 files: a.ts, b.ts', differs: true },
          { about: 'commit', said: 'abc', measured: 'abc', differs: false },
          { about: 'new dependencies', said: null, measured: 'npm left-pad', differs: false },
        ],
        claims_by: 'ada (implementer), claim 3',
        since_passed: { base: 'f'.repeat(40), head: 'a', files: [], total: { files: 2, additions: 5, deletions: 1 } },
      },
    },
    NOW,
  );
  for (const line of [
    '    agent coder: 90 % ($0.90 of $1.00)',
    '    Build it.',
    '    unit, exit code 1',
    '      two',
    '    by ada (implementer), claim 3',
    '    ✗ files: reported 1 file: a.ts; measured: 2 files: a.ts, b.ts',
    '      commit: abc, as measured',
    '      new dependencies: reported nothing; measured: npm left-pad',
    '    2 files, +5 -1, from ffffffffffff',
  ])
    expect(text.split('\n')).toContain(line);
  expect(text).not.toContain('lint');
});

function decisionThatQuotes(text: string): Parameters<typeof renderDecision>[0] {
  const item = {
    section: 'question',
    heading: 'Questions',
    title: 'Signal: escalate',
    author: 'ada',
    entry: 7,
    at: '',
  };
  return {
    id: 'd1',
    status: 'open',
    source: 'stop',
    title: 'Agent needs attention: worker',
    context: `Agent escalated\n${text}`,
    options: [
      { n: 1, label: 'Resume', action: 'resume', recommended: true },
      { n: 2, label: 'Cancel', action: 'cancel', recommended: false },
    ],
    agent_id: 'a1',
    pipeline_id: null,
    task_id: null,
    opened_at: '2026-01-01T00:00:00.000Z',
    answer: null,
    lapsed: null,
    result: null,
    evidence: {
      goal: text,
      stage: null,
      stages: [],
      items: [{ ...item, text }],
      output: null,
      diff: null,
      since_passed: null,
      mission: text,
      budget: null,
      checks: [],
      findings: [],
      claims: [{ about: 'files', said: text, measured: text, differs: false }],
      claims_by: text,
      waiting: [],
      cost: null,
      commands: [],
    },
  };
}
