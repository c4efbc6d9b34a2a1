import { describe, expect, it } from 'vitest';
import { parseResult, renderResult, validateResult } from './result.ts';

const ENTRY = { level: 'info', message: 'Done', timestamp: '2025-01-15T10:30:00Z' } as const;
const FILE = { path: 'src/a.ts', action: 'created' } as const;
const ISSUE = { type: 'blocker', description: 'No credentials' } as const;
const VALID = {
  version: '1',
  task_id: 'T042',
  status: 'completed',
  files_modified: [FILE],
  log: [ENTRY, ENTRY],
  issues: [ISSUE],
  completed_at: '2025-01-15T10:45:00Z',
} as const;

type Row = [fields: Record<string, unknown>, error: string];

describe('validateResult', () => {
  it('accepts a result', () => {
    expect(validateResult(VALID)).toEqual([]);
  });

  it.each([
    { files_modified: [] },
    { issues: [] },
    { issues: null },
    { status: 'failed' },
    { status: 'blocked' },
    ...['info', 'tip', 'warn', 'error', 'critical'].map((level) => ({ log: [ENTRY, { ...ENTRY, level }] })),
    ...['created', 'modified', 'deleted'].map((action) => ({ files_modified: [{ ...FILE, action }] })),
    ...['blocker', 'question', 'concern'].map((type) => ({ issues: [{ ...ISSUE, type }] })),
  ])('accepts %j', (fields) => {
    expect(validateResult({ ...VALID, ...fields })).toEqual([]);
  });

  it.each([undefined, null, 0, '', [], Symbol.iterator, 1n])('requires an object (%#)', (value) => {
    expect(validateResult(value)).toEqual(['Result must be an object']);
  });

  it.each(['version', 'task_id', 'status', 'files_modified', 'log', 'completed_at'])('requires %s', (name) => {
    const { [name]: _, ...rest } = { ...VALID } as Record<string, unknown>;
    expect(validateResult(rest)).toEqual([`Missing required field: ${name}`]);
    expect(validateResult({ ...VALID, [name]: null })).toEqual([`Missing required field: ${name}`]);
  });

  it.each<Row>([
    [{ version: 1 }, 'Unsupported version: 1 (expected 1)'],
    [{ task_id: 'P0.1.1' }, 'Invalid task_id format: P0.1.1 (expected TNNN)'],
    [{ status: 'done' }, 'Invalid status: done (expected: completed, failed, blocked)'],
    [{ status: 'Completed' }, 'Invalid status: Completed (expected: completed, failed, blocked)'],
    [{ status: '' }, 'Invalid status:  (expected: completed, failed, blocked)'],
    [{ status: 5 }, 'Invalid status: 5 (expected: completed, failed, blocked)'],
    [{ files_modified: {} }, 'Field files_modified must be an array'],
    [{ files_modified: ['a'] }, 'Field files_modified[0] must be an object'],
    [{ files_modified: [FILE, { action: 'created' }] }, 'files_modified[1]: missing path'],
    [{ files_modified: [{ ...FILE, path: '' }] }, 'files_modified[0]: missing path'],
    [{ files_modified: [{ ...FILE, path: null }] }, 'files_modified[0]: missing path'],
    [{ files_modified: [{ path: 'a' }] }, 'files_modified[0]: missing action'],
    [{ files_modified: [{ ...FILE, action: 'renamed' }] }, "files_modified[0]: invalid action 'renamed'"],
    [{ files_modified: [{ ...FILE, action: 1 }] }, "files_modified[0]: invalid action '1'"],
    [{ files_modified: [{ ...FILE, path: 1 }] }, 'Field files_modified[0].path must be a string'],
    [{ files_modified: [{ ...FILE, size: 1 }] }, 'Unknown field: files_modified[0].size'],
    ...['/a', '\\a', '\\\\host\\a', 'C:\\a', 'c:a', '../a', 'a/../b', 'a\\..\\b', '..', 'a\0b', 'a\nb'].map(
      (path): Row => [{ files_modified: [{ ...FILE, path }] }, 'files_modified[0]: path must be relative'],
    ),
    [{ log: {} }, 'Field log must be an array'],
    [{ log: [] }, 'Log must contain at least 2 entries'],
    [{ log: [ENTRY] }, 'Log must contain at least 2 entries'],
    [log({ level: undefined }), 'log[1]: missing level'],
    [log({ level: 'debug' }), "log[1]: invalid level 'debug'"],
    [log({ message: undefined }), 'log[1]: missing message'],
    [log({ message: '' }), 'log[1]: missing message'],
    [log({ message: 1 }), 'Field log[1].message must be a string'],
    [log({ timestamp: undefined }), 'log[1]: missing timestamp'],
    [log({ timestamp: '' }), "log[1]: invalid timestamp ''"],
    [log({ timestamp: 'today' }), "log[1]: invalid timestamp 'today'"],
    [log({ timestamp: '2025-02-30T10:00:00Z' }), "log[1]: invalid timestamp '2025-02-30T10:00:00Z'"],
    [{ log: [ENTRY, 'x'] }, 'Field log[1] must be an object'],
    [{ issues: {} }, 'Field issues must be an array'],
    [{ issues: [{ description: 'x' }] }, 'issues[0]: missing type'],
    [{ issues: [{ ...ISSUE, type: 'bug' }] }, "issues[0]: invalid type 'bug'"],
    [{ issues: [{ type: 'question' }] }, 'issues[0]: missing description'],
    [{ issues: [{ ...ISSUE, description: '' }] }, 'issues[0]: missing description'],
    [{ issues: [null] }, 'Field issues[0] must be an object'],
    [{ completed_at: 'yesterday' }, 'Invalid completed_at: yesterday (expected ISO 8601)'],
    [{ completed_at: '' }, 'Invalid completed_at:  (expected ISO 8601)'],
    [{ completed_at: '2025-01-15' }, 'Invalid completed_at: 2025-01-15 (expected ISO 8601)'],
    [{ completed_at: 1_736_937_900 }, 'Field completed_at must be a string'],
    [{ note: 'x' }, 'Unknown field: note'],
  ])('%j: %s', (fields, error) => {
    expect(validateResult({ ...VALID, ...fields })).toEqual([error]);
  });

  it('reports all problems', () => {
    expect(
      validateResult({ version: '1', status: 'x', files_modified: [{}, { path: '/a' }], log: [{}], issues: [{}] }),
    ).toEqual([
      'Missing required field: task_id',
      'Invalid status: x (expected: completed, failed, blocked)',
      'files_modified[0]: missing path',
      'files_modified[0]: missing action',
      'files_modified[1]: path must be relative',
      'files_modified[1]: missing action',
      'Log must contain at least 2 entries',
      'log[0]: missing level',
      'log[0]: missing message',
      'log[0]: missing timestamp',
      'issues[0]: missing type',
      'issues[0]: missing description',
      'Missing required field: completed_at',
    ]);
  });
});

describe('parseResult', () => {
  it.each([
    ['JSON', JSON.stringify(VALID)],
    ['YAML', renderResult(VALID)],
  ])('reads %s', (_, text) => {
    expect(parseResult(text)).toEqual({ ok: true, value: VALID });
  });

  it('reports the place inside a list', () => {
    const text = JSON.stringify({ ...VALID, log: [ENTRY, { ...ENTRY, level: 'inf' }] }, null, 1);
    const lines = text.split('\n');
    const line = lines.findIndex((one) => one.includes('"inf"')) + 1;
    expect(parseResult(text)).toEqual({
      ok: false,
      problems: [
        {
          code: 'invalid-value',
          message: "log[1]: invalid level 'inf'",
          path: 'log[1].level',
          line,
          column: (lines[line - 1] ?? '').indexOf('"inf"') + 1,
          hint: 'Did you mean `info`?',
        },
      ],
    });
  });

  it('refuses null in a list of texts or objects', () => {
    expect(
      parseResult(renderResult(VALID).replace(/issues:[^]*?completed_at/, 'issues: [~]\ncompleted_at')),
    ).toMatchObject({
      problems: [{ message: 'Field issues[0] must be an object' }],
    });
  });
});

function log(fields: Record<string, unknown>): { log: object[] } {
  return { log: [ENTRY, { ...ENTRY, ...fields }] };
}
