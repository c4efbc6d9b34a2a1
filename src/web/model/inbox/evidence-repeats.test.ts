import { describe, expect, it } from 'vitest';
import { leaveOutRepeats } from './evidence-repeats.ts';

const NONE = { items: [], checks: [], findings: [], claims: [] } as const;

function item(section: string, text = 'x') {
  return { section, heading: '', title: section, author: '', entry: 1, at: '', text };
}

const failed = (output: string) => ({ name: 'test', outcome: 'failed', exit_code: 1, output }) as const;
const claim = { about: 'files', said: '1', measured: '1', differs: false };

describe('evidence', () => {
  it('has measurements once: in the table of claims if there is one', () => {
    const items = [item('measured'), item('handoff')];
    expect(leaveOutRepeats({ ...NONE, items }).items).toEqual(items);
    expect(leaveOutRepeats({ ...NONE, items, claims: [claim] }).items).toEqual([item('handoff')]);
  });

  it('has the output of a check once, also if it is cut differently', () => {
    const end = 'the end of it. '.repeat(20);
    const items = [item('check', `… ${end}\n`), item('check', 'a merge failed')];
    const checks = [failed(`a longer part and ${end}`)];
    expect(leaveOutRepeats({ ...NONE, items, checks }).items).toEqual([item('check', 'a merge failed')]);
  });

  it('keeps a check without text', () => {
    const items = [item('check', '')];
    expect(leaveOutRepeats({ ...NONE, items, checks: [failed('')] }).items).toEqual(items);
  });

  it('shows a finding again only if it recurred', () => {
    const findings = [
      { text: 'new', rounds: 1 },
      { text: 'old', rounds: 3 },
    ];
    expect(leaveOutRepeats({ ...NONE, findings }).findings).toEqual(findings);
    const items = [item('finding')];
    expect(leaveOutRepeats({ ...NONE, findings, items }).findings).toEqual([{ text: 'old', rounds: 3 }]);
  });
});
