import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { arbitraryMessage } from '../../../test/fuzz/arbitrary-message.ts';
import { DECLARED_DIALECTS } from '../../../test/fuzz/dialects.ts';
import { schemaAccepts } from '../../../test/fuzz/schema-accepts.ts';
import { agentSignalSchema } from '../agent-signal.ts';
import { evidenceBundleSchema } from '../evidence.ts';
import { exitSignalSchema } from '../exit-signal/exit-signal-shape.ts';
import { missionSchema } from '../mission.ts';
import { resultSchema } from '../result.ts';
import { stopHookInputSchema, stopHookOutputSchema } from '../stop-hook.ts';
import { taskUpdateSchema } from '../task-update.ts';
import { thoughtRecordSchema } from '../thought-record.ts';
import type { JsonSchema } from './shape.ts';

const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  exit: exitSignalSchema,
  mission: missionSchema,
  result: resultSchema,
  evidence: evidenceBundleSchema,
  thought: thoughtRecordSchema,
  'task-update': taskUpdateSchema,
  'agent-signal': agentSignalSchema,
  'stop-hook/input': stopHookInputSchema,
  'stop-hook/output': stopHookOutputSchema,
};

describe.each(DECLARED_DIALECTS)('the JSON Schema of $name', (dialect) => {
  const schema = SCHEMAS[dialect.name] ?? {};
  const values = dialect.samples
    .filter(({ text }) => text !== '')
    .map(({ text }) => dialect.parse(text))
    .map((parsed): Record<string, unknown> => (parsed.ok ? { ...Object(parsed.value) } : {}));

  it('has a draft, a title and a description', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: expect.stringMatching(/^[A-Z]/),
      description: expect.stringMatching(/\.$/),
      type: 'object',
      additionalProperties: dialect.name === 'stop-hook/input',
    });
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it('describes every field', () => {
    const described = Object.values(dialect.shape?.fields ?? {}).filter(({ about }) =>
      /^[A-Z`].*\.$/.test(about ?? ''),
    );
    expect(described).toHaveLength(Object.keys(dialect.shape?.fields ?? {}).length);
  });

  it('accepts the examples', () => {
    expect(values.filter((value) => !schemaAccepts(schema, value))).toEqual([]);
  });

  it('accepts every valid message', () => {
    fc.assert(
      fc.property(arbitraryMessage(dialect), (message) => {
        expect(schemaAccepts(schema, message)).toBe(true);
      }),
      { numRuns: samples(300) },
    );
  });

  it('refuses a message without one of the required fields', () => {
    const required = Object.entries(dialect.shape?.fields ?? {}).filter(([, field]) => !field.optional);
    expect(schema['required']).toEqual(required.map(([name]) => name));
    for (const [name] of required) {
      const { [name]: _, ...rest } = values[0] ?? {};
      expect(schemaAccepts(schema, rest)).toBe(false);
    }
  });

  it('refuses a field of another type', () => {
    for (const name of Object.keys(dialect.shape?.fields ?? {})) {
      expect(schemaAccepts(schema, { ...values[0], [name]: Symbol('another') })).toBe(false);
    }
  });

  it('refuses an unknown field if the parser does', () => {
    const parsed = dialect.parse(JSON.stringify({ ...values[0], bogus: 1 }));
    expect(schemaAccepts(schema, { ...values[0], bogus: 1 })).toBe(parsed.ok);
  });
});

describe('a JSON Schema', () => {
  const refused: readonly (readonly [dialect: string, fields: Record<string, unknown>])[] = [
    ['exit', { protocol: 'other' }],
    ['exit', { version: '2.0.0' }],
    ['exit', { phase_completed: 'review' }],
    ['exit', { exit_reason: 'done' }],
    ['mission', { version: 1 }],
    ['mission', { version: '2' }],
    ['mission', { task_id: '42' }],
    ['mission', { timeout: -1 }],
    ['mission', { context: { epic_file: 'a' } }],
    ['mission', { context: { epic_file: 'a', task_file: 'b', other: 'c' } }],
    ['mission', { constraints: { max_files: -1 } }],
    ['result', { status: 'done' }],
    ['result', { log: [] }],
    ['result', { files_modified: [{ path: '/a', action: 'created' }] }],
    ['result', { files_modified: [{ path: '..', action: 'created' }] }],
    ['result', { files_modified: [{ path: 'a/../b', action: 'created' }] }],
    ['result', { files_modified: [{ path: 'C:\\a', action: 'created' }] }],
    ['result', { files_modified: [{ path: '', action: 'created' }] }],
    ['result', { files_modified: [{ path: 'a', action: 'moved' }] }],
    ['evidence', { head_sha: 'main' }],
    ['evidence', { commands: [{ run: 'x', exit_code: 1.5, output_sha256: 'e'.repeat(64) }] }],
    ['evidence', { commands: [{ run: 'x', exit_code: 256, output_sha256: 'e'.repeat(64) }] }],
    ['thought', { branch: '-x' }],
    ['thought', { branch: 'a b' }],
    ['thought', { commit_sha: 'abc' }],
    ['thought', { summary: '' }],
    ['thought', { tests_run: [''] }],
    ['task-update', { progress: 101 }],
    ['agent-signal', { kind: 'done' }],
    ['stop-hook/output', { decision: 'allow' }],
    ['stop-hook/output', { reason: '' }],
  ];

  it.each(refused)('of %s refuses %j, as the parser does', (name, fields) => {
    const dialect = DECLARED_DIALECTS.find((one) => one.name === name);
    const sample = dialect?.parse(dialect.samples.find(({ text }) => text !== '')?.text ?? '');
    const value: unknown = sample?.ok ? { ...Object(sample.value), ...fields } : undefined;
    expect(dialect?.parse(JSON.stringify(value))).toMatchObject({ ok: false });
    expect(schemaAccepts(SCHEMAS[name] ?? {}, value)).toBe(false);
  });
});
