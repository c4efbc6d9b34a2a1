import { describe, expect, it } from 'vitest';
import { matchesTask, parseTaskFilter, setValue, type TaskFacts, valueIn } from './task-filter.ts';

const task: TaskFacts = {
  id: 'T042',
  title: 'Sign the export of the Ledger',
  status: 'in_progress',
  phase: 'READY_FOR_REVIEW',
  role: 'reviewer',
  holder: 'Ann Lee',
  after: ['T041'],
  isClaimable: () => false,
  activity: () => 'running',
  isCritical: () => true,
  isBefore: (id) => id === 't050',
};

describe('the filter of tasks', () => {
  it.each([
    ['', true],
    ['ledger', true],
    ['LEDGER sign', true],
    ['ledger import', false],
    ['t042', true],
    ['"the export"', true],
    ['"export the"', false],
    ['-ledger', false],
    ['-import', true],
    ['status:in_progress', true],
    ['status:in-progress', true],
    ['status:"in progress"', true],
    ['status:open', true],
    ['status:done', false],
    ['status:done,in_progress', true],
    ['-status:in_progress', false],
    ['status:in', true],
    ['phase:ready_for_review', true],
    ['phase:READY', true],
    ['phase:review', false],
    ['role:reviewer', true],
    ['role:Reviewer', true],
    ['role:review', false],
    ['holder:ann', true],
    ['holder:"ann lee"', true],
    ['holder:bob', false],
    ['claimable:yes', false],
    ['claimable:no', true],
    ['activity:running', true],
    ['critical:yes', true],
    ['after:T041', true],
    ['after:t041', true],
    ['after:T04', false],
    ['before:T050', true],
    ['before:T051', false],
    ['status:in_progress role:reviewer ledger', true],
    ['status:in_progress role:fixer ledger', false],
  ])('%s → %s', (text, isMatch) => {
    const filter = parseTaskFilter(text);
    expect(filter.problems).toEqual([]);
    expect(matchesTask(filter, task)).toBe(isMatch);
  });

  it('names a key that it does not know, and matches nothing', () => {
    const filter = parseTaskFilter('ledger color:red');
    expect(filter.problems).toEqual([
      'There is no filter color. There are status, phase, role, holder, claimable, activity, critical, after, before. To find the text, write "color:…" in quotes.',
    ]);
    expect(matchesTask(filter, task)).toBe(false);
  });

  it('names a value that a key does not have', () => {
    const filter = parseTaskFilter('claimable:perhaps status:done,gone');
    expect(filter.problems).toEqual([
      'claimable is one of yes, no, not perhaps.',
      'status is one of open, todo, in_progress, blocked, done, cancelled, not gone.',
    ]);
    expect(matchesTask(filter, task)).toBe(false);
  });

  it('finds text with a colon if it is in quotes', () => {
    const filter = parseTaskFilter('"fix: sign"');
    expect(filter.problems).toEqual([]);
    expect(matchesTask(filter, { ...task, title: 'Fix: sign it' })).toBe(true);
    expect(matchesTask(filter, task)).toBe(false);
  });

  it('ignores a key whose value is yet to be typed', () => {
    expect(parseTaskFilter('status: "')).toEqual({ conditions: [], words: [], problems: [] });
  });

  it('reads claims and chains only if the filter names them', () => {
    const refuse = (): never => {
      throw new Error('asked');
    };
    const costly = { ...task, isClaimable: refuse, activity: refuse, isCritical: refuse, isBefore: refuse };
    expect(matchesTask(parseTaskFilter('status:open ledger'), costly)).toBe(true);
    expect(() => matchesTask(parseTaskFilter('claimable:yes'), costly)).toThrow('asked');
  });
});

describe('the value of a key in a text', () => {
  it('is the only value in the text', () => {
    expect(valueIn('ledger status:done', 'status')).toBe('done');
    expect(valueIn('status:do', 'status')).toBe('done');
    expect(valueIn('-status:done', 'status')).toBeUndefined();
    expect(valueIn('status:done,todo', 'status')).toBeUndefined();
    expect(valueIn('status:done status:todo', 'status')).toBeUndefined();
    expect(valueIn('ledger', 'status')).toBeUndefined();
  });

  it('replaces all others', () => {
    expect(setValue('-status:done "a b" status:todo x', 'status', 'blocked')).toBe('"a b" x status:blocked');
    expect(setValue('status:done x', 'status', undefined)).toBe('x');
    expect(setValue('', 'critical', 'yes')).toBe('critical:yes');
  });
});
