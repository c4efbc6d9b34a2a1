import { describe, expect, it } from 'vitest';
import { describeData, shortActor, subjectsOf } from './describe-entry.ts';

describe('one line about an entry', () => {
  it('starts with the most useful field, and names other fields', () => {
    expect(describeData({ task_id: 'T001', n: 1, title: 'Read durations', after: [] })).toBe('Read durations · n: 1');
    expect(describeData({ task_id: 'T001', from: 'DRAFT', to: 'REVIEW', reason: 'handoff' })).toBe(
      'REVIEW · handoff · from: DRAFT',
    );
  });

  it('shortens ids, and omits useless ones', () => {
    const agent_id = '1f1b1423-9eb7-4999-ac91-3074eb559974';
    expect(describeData({ agent_id, event_id: agent_id, head: 'a'.repeat(40) })).toBe(
      'agent 1f1b1423 · head: aaaaaaaa',
    );
  });

  it('stays one short line for any text of an agent', () => {
    const line = describeData({ title: `a\n\n${'b'.repeat(1_000_000)}`, message: 'c\td' });
    expect(line.length).toBeLessThanOrEqual(160);
    expect(line).not.toMatch(/[\n\t]/);
  });

  it('looks into messages of sessions', () => {
    expect(describeData({ record: { summary: 'Parses durations', files: [] } })).toBe('Parses durations');
    expect(describeData({ result: null, blocked: false })).toBe('');
  });
});

it('names what an entry is about', () => {
  expect(subjectsOf({ task: { task_id: 'T1' }, agent_id: 'a', decision_id: 4 })).toEqual({ task: 'T1', agent: 'a' });
});

it('shortens the actor of a session', () => {
  expect(shortActor('session:1f1b1423-9eb7-4999-ac91-3074eb559974')).toBe('session 1f1b1423');
  expect(shortActor('operator:ann')).toBe('ann');
  expect(shortActor('session:s-1')).toBe('s-1');
});
