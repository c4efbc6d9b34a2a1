import { describe, expect, it } from 'vitest';
import type { DecisionView } from '../../../api/run-views.ts';
import {
  answerCommand,
  findMissing,
  groupAlike,
  keepAlike,
  optionOfKey,
  optionsForSeveral,
  renderEffect,
} from './answer-rules.ts';
import { asked } from './asked.cases.ts';

const [approve, sendBack, handOver] = asked('d').options as [Option, Option, Option]; // oxlint-disable-line typescript/no-unsafe-type-assertion
type Option = DecisionView['options'][number];
const NOTHING = { message: '', agent: '' };

describe('what an answer lacks', () => {
  it.each([
    [approve, NOTHING, undefined],
    [sendBack, NOTHING, 'note'],
    [sendBack, { message: ' \n', agent: '' }, 'note'],
    [sendBack, { message: 'use a lock', agent: '' }, undefined],
    [handOver, { message: 'x', agent: ' ' }, 'agent'],
    [handOver, { message: '', agent: 'coder' }, undefined],
  ])('%j with %j lacks %s', (option, draft, missing) => {
    expect(findMissing({ source: 'review' }, option, draft)).toBe(missing);
  });

  it('needs no note to send back a merge that is held', () => {
    expect(findMissing({ source: 'merge' }, sendBack, NOTHING)).toBeUndefined();
  });
});

describe('several similar decisions', () => {
  it('are of one kind if they have the same source and the same options', () => {
    const same = [asked('a'), asked('b', { title: 'other' })];
    const others = [asked('c', { source: 'merge' }), asked('d', { options: [approve] })];
    expect([...groupAlike([...same, ...others])]).toEqual([
      ['a', ['a', 'b']],
      ['b', ['a', 'b']],
      ['c', ['c']],
      ['d', ['d']],
    ]);
  });

  it('keeps what is open and of the kind of the first', () => {
    const answered = asked('c', {
      answer: {
        option: 1, action: 'approve', label: 'Approve', by: 'ann', at: '', message: null, agent: null, effective_at: '', seq: 7,
      },
    }); // prettier-ignore
    const alike = groupAlike([asked('a'), asked('b', { source: 'merge' }), answered, asked('d')]);
    expect(keepAlike(['gone', 'a', 'b', 'c', 'd'], alike)).toEqual(['a', 'd']);
    expect(keepAlike(['gone'], alike)).toEqual([]);
  });

  it('offers no handover for several at once', () => {
    expect(optionsForSeveral([approve, handOver])).toEqual([approve]);
  });
});

describe('the command', () => {
  it('quotes the reason', () => {
    expect(answerCommand('9b2d4c10-77', sendBack, { message: "don't", agent: '' })).toBe(
      String.raw`baton decision resolve 9b2d4c10 2 -m 'don'\''t'`,
    );
  });

  it('names the agent', () => {
    expect(answerCommand('9b2d4c10', handOver, NOTHING)).toBe('baton decision resolve 9b2d4c10 3 --agent NAME');
  });
});

it.each([
  ['2026-01-01T00:00:05.000Z', 'takes effect in 5 s'],
  ['2026-01-01T00:00:00.001Z', 'takes effect in 1 s'],
  ['2025-12-31T23:59:59.000Z', 'takes effect now'],
])('an answer for %s %s', (effectiveAt, words) => {
  expect(renderEffect(effectiveAt, Date.parse('2026-01-01T00:00:00.000Z'))).toBe(words);
});

describe('keys', () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false, repeat: false };

  it.each(['1', '9'])('%s is an option', (key) => {
    expect(optionOfKey({ ...plain, key })).toBe(Number(key));
  });

  it.each([
    { ...plain, key: '0' },
    { ...plain, key: 'F1' },
    { ...plain, key: '1', ctrlKey: true },
    { ...plain, key: '1', metaKey: true },
    { ...plain, key: '1', altKey: true },
    { ...plain, key: '1', repeat: true },
  ])('%j is none', (pressed) => {
    expect(optionOfKey(pressed)).toBeUndefined();
  });
});
