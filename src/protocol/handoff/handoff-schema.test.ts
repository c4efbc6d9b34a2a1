import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import { anyMessage } from './arbitrary.cases.ts';
import { fixture, FIXTURES, valueOf } from './fixtures.cases.ts';
import { handoffSchema, validateHandoff } from './index.ts';
import { fitsSchema } from './json-schema.cases.ts';

describe('the JSON Schema', () => {
  it('names its draft and is plain data', () => {
    expect(handoffSchema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
    expect(JSON.parse(JSON.stringify(handoffSchema))).toEqual(handoffSchema);
  });

  it('has one alternative for each edge, the end and the base form', () => {
    const { oneOf } = handoffSchema;
    expect(Array.isArray(oneOf) && oneOf.map(({ title }: { title: string }) => title)).toEqual([
      'issue-manager → prep-agent',
      'prep-agent → implementer-agent',
      'implementer-agent → reviewer-agent',
      'ci-gate → fixer-agent',
      'reviewer-agent → fixer-agent',
      'reviewer-agent → validator-agent',
      'fixer-agent → reviewer-agent',
      'validator-agent → fixer-agent',
      'operator → fixer-agent',
      'validator-agent → closer-agent',
      '* → orchestrator',
      'closer-agent → workflow-complete',
      'base form',
    ]);
  });

  it.each(FIXTURES)('accepts %s', (name) => {
    expect(fitsSchema(valueOf(fixture(name)), handoffSchema)).toBe(true);
  });

  it('accepts whatever the parser accepts', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        expect(fitsSchema(message, handoffSchema)).toBe(true);
        if (message['kind'] !== 'handoff') return;
        const { kind: _, ...fields } = message;
        expect(validateHandoff(fields)).toEqual([]);
        expect(fitsSchema(fields, handoffSchema)).toBe(true);
      }),
      { numRuns: samples(500) },
    );
  });

  it.each([
    ['a missing element', { summary: undefined }],
    ['an unknown element', { color: 'red' }],
    ['a number in text', { files_changed: '12' }],
    ['a negative count', { files_changed: -1 }],
    ['text as a number', { issue_number: 123 }],
    ['a branch like an option', { branch: '-x' }],
    ['another protocol', { pr_url: 'ftp://host/x' }],
    ['a commit without its name', { commits: [{ text: 'x' }] }],
    ['an unknown status', { status: 'ready' }],
    ['another edge', { to: 'fixer-agent' }],
  ])('refuses %s, as the parser does', (_, fields) => {
    const changed = { ...valueOf(fixture('implementer-agent-to-reviewer-agent')), ...fields };
    const message: unknown = JSON.parse(JSON.stringify(changed));
    expect(validateHandoff(message)).not.toEqual([]);
    expect(fitsSchema(message, handoffSchema)).toBe(false);
  });
});
