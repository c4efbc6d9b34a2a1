import { describe, expect, it } from 'vitest';
import { parseThoughtRecord, renderThoughtRecord, validateThoughtRecord } from './thought-record.ts';

const VALID = {
  task_id: 'P0.1.1',
  branch: 'feature/p0-1-1-package-setup',
  commit_sha: 'abc123def456789abcdef456789abcdef456789a',
  tests_run: ['smoke.test.ts'],
  summary: 'Initialized package.json.',
  blockers: [],
  files_changed: ['package.json'],
  related_thought_records: [],
};

describe('thought record', () => {
  it.each([
    { task_id: 'T042' },
    { task_id: 'W-00042' },
    { task_id: '123' },
    { task_id: 'a'.repeat(64) },
    { blockers: [{}] },
    { blockers: [{ type: 'peer-dep', package: 'zod', issue: '...', resolution: '...' }] },
    { blockers: [{ nested: { list: [1, null, true, 'x'] } }] },
    { status: 'todo', notes: 'Previous PR reverted, task reinstated' },
    { status: null, notes: null },
    { notes: '' },
  ])('accepts %j', (fields) => {
    expect(validateThoughtRecord({ ...VALID, ...fields })).toEqual([]);
  });

  it.each(Object.keys(VALID))('requires %s', (name) => {
    expect(validateThoughtRecord({ ...VALID, [name]: undefined })).toEqual([`Missing required field: ${name}`]);
  });

  it.each<[fields: Record<string, unknown>, error: string]>([
    [{ task_id: '' }, 'Invalid task_id:  (expected letters, digits, `.`, `_`, `-`, at most 64)'],
    [{ task_id: '.a' }, 'Invalid task_id: .a (expected letters, digits, `.`, `_`, `-`, at most 64)'],
    [{ task_id: 'a/b' }, 'Invalid task_id: a/b (expected letters, digits, `.`, `_`, `-`, at most 64)'],
    [{ task_id: 'é' }, 'Invalid task_id: é (expected letters, digits, `.`, `_`, `-`, at most 64)'],
    [{ task_id: 123 }, 'Field task_id must be a string'],
    [{ branch: '-rf' }, 'Invalid branch: -rf (expected a branch name that git accepts)'],
    [{ branch: 'a b' }, 'Invalid branch: a b (expected a branch name that git accepts)'],
    [{ commit_sha: 'abc123d' }, 'Invalid commit_sha: abc123d (expected 40 hex digits, or 64 in a SHA-256 repository)'],
    [
      { commit_sha: 'g'.repeat(40) },
      `Invalid commit_sha: ${'g'.repeat(40)} (expected 40 hex digits, or 64 in a SHA-256 repository)`,
    ],
    [{ summary: '' }, 'Field summary must not be empty'],
    [{ summary: ' \n\t' }, 'Field summary must not be empty'],
    [{ tests_run: 'smoke' }, 'Field tests_run must be an array'],
    [{ tests_run: [1] }, 'Field tests_run[0] must be a string'],
    [{ tests_run: [null] }, 'Field tests_run[0] must be a string'],
    [{ files_changed: ['a', ''] }, 'Field files_changed[1] must not be empty'],
    [{ blockers: ['none'] }, 'Field blockers[0] must be an object'],
    [{ blockers: {} }, 'Field blockers must be an array'],
    [{ blockers: [{ a: { b: [Infinity] } }] }, 'Field blockers[0].a.b[0] must be a whole number, or text'],
    [{ blockers: [{ weight: 1.5 }] }, 'Field blockers[0].weight must be a whole number, or text'],
    [{ blockers: [{ a: () => 1 }] }, 'Field blockers[0].a must be JSON data'],
    [{ status: 'finished' }, 'Invalid status: finished (expected: todo, in_progress, blocked, done)'],
    [{ note: 'x' }, 'Unknown field: note'],
  ])('%j: %s', (fields, error) => {
    expect(validateThoughtRecord({ ...VALID, ...fields })).toEqual([error]);
  });

  it('keeps free content as it is, except -0, which JSON cannot express', () => {
    const blockers = [{ constructor: 1, toString: null, list: [-0, 15], deep: { a: { b: [] } }, '': 'x' }];
    const parsed = parseThoughtRecord({ ...VALID, blockers });
    const kept = [{ constructor: 1, toString: null, list: [0, 15], deep: { a: { b: [] } }, '': 'x' }];
    expect(parsed).toEqual({ ok: true, value: { ...VALID, blockers: kept } });
    expect(parsed.ok && parseThoughtRecord(renderThoughtRecord(parsed.value))).toEqual(parsed);
  });
});
