import { describe, expect, it } from 'vitest';
import { parseMission, renderMission, validateMission } from './mission.ts';

const VALID = {
  version: '1',
  task_id: 'T042',
  epic_id: 'E005',
  prd_id: 'PRD-001',
  instruction: 'Implement it.',
  context: { epic_file: 'epic.md', task_file: 'task.md' },
};

describe('validateMission', () => {
  it('accepts a mission with only the required fields', () => {
    expect(validateMission(VALID)).toEqual([]);
  });

  it.each([
    { constraints: {} },
    { constraints: { max_files: 0 } },
    { timeout: 0 },
    { timeout: 0.5 },
    { timeout: null },
    { constraints: null },
    { task_id: 'T1' },
    { task_id: 'T00000042' },
    { epic_id: 'E0' },
    { prd_id: 'PRD-123456' },
    { instruction: '' },
  ])('accepts %j', (fields) => {
    expect(validateMission({ ...VALID, ...fields })).toEqual([]);
  });

  it.each([undefined, null, 1, true, 'text', [], [VALID], Symbol('s'), 1n, () => VALID])(
    'requires an object (%#)',
    (value) => {
      expect(validateMission(value)).toEqual(['Mission must be an object']);
    },
  );

  it.each(['version', 'task_id', 'epic_id', 'prd_id', 'instruction', 'context'])('requires %s', (name) => {
    const { [name]: _, ...rest } = { ...VALID } as Record<string, unknown>;
    expect(validateMission(rest)).toEqual([`Missing required field: ${name}`]);
    expect(validateMission({ ...VALID, [name]: null })).toEqual([`Missing required field: ${name}`]);
    expect(validateMission({ ...VALID, [name]: undefined })).toEqual([`Missing required field: ${name}`]);
  });

  it.each<[fields: Record<string, unknown>, error: string]>([
    [{ version: 1 }, 'Unsupported version: 1 (expected 1)'],
    [{ version: '2' }, 'Unsupported version: 2 (expected 1)'],
    [{ version: '1.0' }, 'Unsupported version: 1.0 (expected 1)'],
    [{ version: '' }, 'Unsupported version:  (expected 1)'],
    [{ version: '1\n' }, 'Unsupported version: 1\n (expected 1)'],
    [{ version: true }, 'Unsupported version: true (expected 1)'],
    [{ task_id: '42' }, 'Invalid task_id format: 42 (expected TNNN)'],
    [{ task_id: 't042' }, 'Invalid task_id format: t042 (expected TNNN)'],
    [{ task_id: 'T' }, 'Invalid task_id format: T (expected TNNN)'],
    [{ task_id: 'T٣' }, 'Invalid task_id format: T٣ (expected TNNN)'],
    [{ task_id: ' T042' }, 'Invalid task_id format:  T042 (expected TNNN)'],
    [{ task_id: '{path}' }, 'Invalid task_id format: {path} (expected TNNN)'],
    [{ task_id: '$&' }, 'Invalid task_id format: $& (expected TNNN)'],
    [{ epic_id: 'T005' }, 'Invalid epic_id format: T005 (expected ENNN)'],
    [{ prd_id: 'PRD001' }, 'Invalid prd_id format: PRD001 (expected PRD-NNN)'],
    [{ prd_id: 'PRD-' }, 'Invalid prd_id format: PRD- (expected PRD-NNN)'],
    [{ task_id: 42 }, 'Field task_id must be a string'],
    [{ epic_id: {} }, 'Field epic_id must be a string'],
    [{ prd_id: [] }, 'Field prd_id must be a string'],
    [{ instruction: 1 }, 'Field instruction must be a string'],
    [{ instruction: () => 'x' }, 'Field instruction must be a string'],
    [{ context: 'x' }, 'Field context must be an object'],
    [{ context: [] }, 'Field context must be an object'],
    [{ constraints: 1 }, 'Field constraints must be an object'],
    [{ timeout: -1 }, 'Field timeout must be a non-negative number'],
    [{ timeout: '600' }, 'Field timeout must be a non-negative number'],
    [{ timeout: Number.NaN }, 'Field timeout must be a non-negative number'],
    [{ timeout: Infinity }, 'Field timeout must be a non-negative number'],
    [{ constraints: { max_files: -1 } }, 'Field constraints.max_files must be a non-negative number'],
    [{ constraints: { max_files: '10' } }, 'Field constraints.max_files must be a non-negative number'],
    [{ constraints: { no_git_commit: 'true' } }, 'Field constraints.no_git_commit must be a boolean'],
    [{ constraints: { no_new_deps: 0 } }, 'Field constraints.no_new_deps must be a boolean'],
    [{ constraints: { max_file: 1 } }, 'Unknown field: constraints.max_file'],
    [{ extra: 1 }, 'Unknown field: extra'],
    [{ constructor: 1 }, 'Unknown field: constructor'],
    [{ toString: 1 }, 'Unknown field: toString'],
    [context({ epic_file: null }), 'Missing required field: context.epic_file'],
    [context({ task_file: null }), 'Missing required field: context.task_file'],
    [context({ epic_file: 1 }), 'Field context.epic_file must be a string'],
    [context({ dev_md: {} }), 'Field context.dev_md must be a string'],
    [context({ memory: false }), 'Field context.memory must be a string'],
    [context({ other: 'x' }), 'Unknown field: context.other'],
  ])('%j: %s', (fields, error) => {
    expect(validateMission({ ...VALID, ...fields })).toEqual([error]);
  });

  it('reports all problems in the order of the fields', () => {
    const mission = { version: 1, epic_id: 'x', instruction: 2, context: {}, constraints: { a: 1 }, timeout: -1, b: 2 };
    expect(validateMission(mission)).toEqual([
      'Unsupported version: 1 (expected 1)',
      'Missing required field: task_id',
      'Invalid epic_id format: x (expected ENNN)',
      'Missing required field: prd_id',
      'Field instruction must be a string',
      'Missing required field: context.epic_file',
      'Missing required field: context.task_file',
      'Unknown field: constraints.a',
      'Field timeout must be a non-negative number',
      'Unknown field: b',
    ]);
  });

  it('quotes a long value only in part', () => {
    const [error] = validateMission({ ...VALID, task_id: '😀'.repeat(1_000) });
    expect(error).toBe(`Invalid task_id format: ${'😀'.repeat(200)}… (expected TNNN)`);
    expect(validateMission({ ...VALID, task_id: '😀'.repeat(200) })).toEqual([
      `Invalid task_id format: ${'😀'.repeat(200)} (expected TNNN)`,
    ]);
  });

  it('reports at most a hundred problems', () => {
    const unknown = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field_${i}`, 1]));
    expect(validateMission({ ...VALID, ...unknown })).toHaveLength(100);
  });
});

describe('parseMission', () => {
  it.each([
    ['JSON', JSON.stringify(VALID)],
    ['YAML', renderMission(VALID)],
  ])('reads %s', (_, text) => {
    expect(parseMission(text)).toEqual({ ok: true, value: VALID });
  });

  it('leaves out fields that are null', () => {
    expect(parseMission({ ...VALID, timeout: null, constraints: { max_files: null } })).toEqual({
      ok: true,
      value: { ...VALID, constraints: {} },
    });
  });

  it.each([
    ['JSON', JSON.stringify({ ...VALID, version: 1 })],
    ['YAML', renderMission(VALID).replace('version: "1"', 'version: 1')],
  ])('refuses a version that is a number in %s', (_, text) => {
    expect(parseMission(text)).toMatchObject({
      problems: [{ code: 'invalid-value', path: 'version', message: 'Unsupported version: 1 (expected 1)' }],
    });
  });

  it('reports the place of each problem; a missing field is reported at the start of its object', () => {
    const text = 'version: "1"\ntask_id: X\nepic_id: E005\ncontext:\n  epic_file: [é, 😀]\nbogus: 1\n';
    const parsed = parseMission(text);
    expect(parsed.ok ? [] : parsed.problems.map(({ path, line, column }) => [path, line, column])).toEqual([
      ['task_id', 2, 10],
      ['prd_id', 1, 1],
      ['instruction', 1, 1],
      ['context.epic_file', 5, 14],
      ['context.task_file', 5, 3],
      ['bogus', 6, 1],
    ]);
  });

  it.each(['', '# nothing\n', '---\n', 'text', '- a', '1', '[]', 'null'])('requires an object: %j', (text) => {
    expect(parseMission(text)).toMatchObject({ problems: [{ message: 'Mission must be an object' }] });
  });

  it('accepts 262,144 bytes and no more', () => {
    const json = JSON.stringify(VALID);
    expect(parseMission(json.padEnd(262_144))).toMatchObject({ ok: true });
    expect(parseMission(json.padEnd(262_145))).toMatchObject({
      problems: [{ code: 'too-large', message: 'input too large: 262145 bytes > 262144 bytes maximum' }],
    });
    expect(parseMission(`${json}${'é'.repeat(131_072)}`)).toMatchObject({ problems: [{ code: 'too-large' }] });
  });
});

function context(fields: Record<string, unknown>): { context: object } {
  return { context: { ...VALID.context, ...fields } };
}
