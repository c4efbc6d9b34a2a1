import { describe, expect, expectTypeOf, it } from 'vitest';
import { fixture, FIXTURES, valueOf } from './fixtures.cases.ts';
import { isHandoffOn, parseHandoff, renderHandoff, validateHandoff, type HandoffOf } from './index.ts';

describe('every example of the document', () => {
  it.each(FIXTURES)('%s is accepted, from text, from bytes and as a value', (name) => {
    const text = fixture(name);
    const value = valueOf(text);
    expect(validateHandoff(text)).toEqual([]);
    expect(parseHandoff(new TextEncoder().encode(text))).toEqual({ ok: true, value });
    expect(parseHandoff(value)).toEqual({ ok: true, value });
    expect(parseHandoff(JSON.parse(JSON.stringify(value)))).toEqual({ ok: true, value });
  });

  it.each(FIXTURES)('%s is the same after rendering and parsing', (name) => {
    const value = valueOf(fixture(name));
    expect(valueOf(renderHandoff(value))).toEqual(value);
  });

  it.each(FIXTURES.filter((name) => name !== 'base'))('%s is rendered as the document writes it', (name) => {
    expect(renderHandoff(valueOf(fixture(name)))).toBe(fixture(name));
  });
});

describe('the values of the examples', () => {
  it('the base form', () => {
    expect(valueOf(fixture('base'))).toEqual({
      kind: 'handoff',
      from: 'source-agent-name',
      to: 'target-agent-name',
      timestamp: '2024-01-15T10:30:00Z',
      issue_number: '123',
      pr_number: '456',
      status: 'success',
      summary: 'One-line description of outcome',
      data: '',
    });
  });

  it('a review', () => {
    expect(valueOf(fixture('reviewer-agent-to-fixer-agent'))).toEqual({
      kind: 'handoff',
      from: 'reviewer-agent',
      to: 'fixer-agent',
      pr_url: 'https://github.com/owner/repo/pull/456',
      pr_number: '456',
      issue_number: '123',
      review_status: 'changes_requested',
      critical_count: 2,
      important_count: 3,
      suggestion_count: 4,
      blocking_issues: [
        { location: 'src/auth/login.ts:42', severity: 'critical', text: 'SQL injection vulnerability' },
        { location: 'src/admin/routes.ts:15', severity: 'critical', text: 'Missing authentication check' },
        { location: 'src/auth/token.ts:78', severity: 'important', text: 'Token not invalidated on logout' },
      ],
    });
  });

  it('an error', () => {
    expect(valueOf(fixture('error'))).toMatchObject({
      to: 'orchestrator',
      status: 'failure',
      error: { type: 'BuildError', details: "Cannot find module '@/auth/types'", recoverable: true },
    });
  });

  it('the end', () => {
    expect(valueOf(fixture('workflow-complete'))).toMatchObject({
      kind: 'workflow-complete',
      status: 'completed',
      metrics: { review_iterations: 2, total_commits: 8, tests_added: 24, coverage: '94%' },
      actions_taken: ['Closing comment posted', 'Issue closed', 'Branch deleted', 'Related issues updated'],
    });
  });
});

describe('types', () => {
  it('are derived from the declaration of the edge', () => {
    type Review = HandoffOf<'reviewer-agent', 'fixer-agent'>;
    expectTypeOf<Review['from']>().toEqualTypeOf<'reviewer-agent'>();
    expectTypeOf<Review['issue_number']>().toEqualTypeOf<string>();
    expectTypeOf<Review['critical_count']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Review['review_status']>().toEqualTypeOf<'changes_requested'>();
    expectTypeOf<Review['blocking_issues'][number]['severity']>().toEqualTypeOf<
      'critical' | 'important' | 'suggestion'
    >();
    expectTypeOf<Review['summary']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<HandoffOf<'*', 'orchestrator'>['error']['recoverable']>().toEqualTypeOf<boolean>();
  });

  it('make the compiler report missing elements', () => {
    const failed: HandoffOf<'ci-gate', 'fixer-agent'> = {
      kind: 'handoff',
      from: 'ci-gate',
      to: 'fixer-agent',
      pr_url: 'https://github.com/owner/repo/pull/456',
      pr_number: '456',
      issue_number: '123',
      validation_status: 'failed',
      failures: [{ type: 'test', text: 'expected 200, got 401' }],
    };
    expect(valueOf(renderHandoff(failed))).toEqual(failed);
    // @ts-expect-error The edge requires more than `from` and `to`.
    const empty: HandoffOf<'ci-gate', 'fixer-agent'> = { kind: 'handoff', from: 'ci-gate', to: 'fixer-agent' };
    expect(validateHandoff(empty)).toContain('Missing required element: failures');
  });

  it('are narrowed by the ends of the edge', () => {
    const message = valueOf(fixture('reviewer-agent-to-fixer-agent'));
    expect(isHandoffOn(message, 'reviewer-agent', 'validator-agent')).toBe(false);
    if (!isHandoffOn(message, 'reviewer-agent', 'fixer-agent')) throw new Error('is on that edge');
    expect(message.blocking_issues.map(({ severity }) => severity)).toEqual(['critical', 'critical', 'important']);
  });
});
