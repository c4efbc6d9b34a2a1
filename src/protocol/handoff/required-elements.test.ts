import { describe, expect, it } from 'vitest';
import { adding, changed, fixture, FIXTURES, messagesOf, problemsOf, valueOf, without } from './fixtures.cases.ts';
import { renderHandoff, validateHandoff } from './index.ts';

const implemented = 'implementer-agent-to-reviewer-agent';
const review = 'reviewer-agent-to-fixer-agent';
const approval = 'reviewer-agent-to-validator-agent';
const prepared = 'prep-agent-to-implementer-agent';
const merged = 'validator-agent-to-closer-agent';

describe('required and optional elements', () => {
  const required: readonly (readonly [Parameters<typeof fixture>[0], readonly string[]])[] = [
    ['base', ['from', 'to', 'timestamp', 'issue_number', 'summary']],
    [
      'issue-manager-to-prep-agent',
      ['issue_url', 'issue_number', 'issue_title', 'type', 'priority', 'summary', 'requirements'],
    ],
    [prepared, ['issue_url', 'issue_number', 'branch', 'workspace_path', 'workspace_type', 'validation']],
    [
      implemented,
      ['issue_url', 'issue_number', 'pr_url', 'pr_number', 'branch', 'summary', 'files_changed', 'coverage', 'commits'],
    ],
    [review, ['pr_url', 'pr_number', 'issue_number', 'review_status', 'blocking_issues']],
    [approval, ['pr_url', 'pr_number', 'issue_number', 'review_status', 'critical_count', 'summary']],
    ['fixer-agent-to-reviewer-agent', ['pr_url', 'fixes_applied', 'commits_added']],
    [merged, ['pr_url', 'validation_summary']],
    ['validator-agent-to-fixer-agent', ['validation_status', 'failures']],
    ['ci-gate-to-fixer-agent', ['validation_status', 'failures']],
    [
      'workflow-complete',
      ['issue_number', 'issue_url', 'pr_number', 'cycle_time', 'summary', 'metrics', 'actions_taken'],
    ],
    ['error', ['status', 'error']],
  ];
  for (const [name, elements] of required) {
    it.each(elements)(`${name} needs %s`, (element) => {
      expect(messagesOf(without(name, element))).toContain(`Missing required element: ${element}`);
    });
  }

  it('the elements of a group are required too', () => {
    expect(problemsOf(changed(prepared, /\n *<build>.*/, ''))).toMatchObject([
      {
        code: 'handoff/missing-element',
        message: 'Missing required element: validation.build',
        path: 'validation.build',
        line: 11,
        column: 3,
        hint: 'Add <build>…</build>.',
      },
    ]);
  });

  it.each([
    ['base', 'pr_number'],
    ['base', 'status'],
    ['base', 'data'],
    [prepared, 'port'],
    [prepared, 'status'],
    [review, 'critical_count'],
    [review, 'important_count'],
    [review, 'suggestion_count'],
    ['fixer-agent-to-reviewer-agent', 'status'],
    [merged, 'merge_status'],
    [merged, 'merge_sha'],
    [merged, 'merge_strategy'],
    ['workflow-complete', 'status'],
  ] as const)('%s may lack %s', (name, element) => {
    expect(validateHandoff(without(name, element))).toEqual([]);
  });

  it.each(FIXTURES.filter((name) => name !== 'base'))('%s may have a timestamp and data', (name) => {
    const more = '<timestamp>2024-01-15T10:30:00+02:00</timestamp><data><tool version="1">x</tool></data>';
    const value = valueOf(adding(name, more));
    expect(value).toMatchObject({
      timestamp: '2024-01-15T10:30:00+02:00',
      data: [{ name: 'tool', attributes: { version: '1' }, content: 'x' }],
    });
    expect(valueOf(renderHandoff(value))).toEqual(value);
  });

  it('pr_number and summary may be added if the example has none', () => {
    expect(validateHandoff(adding(prepared, '<pr_number>7</pr_number><summary>x</summary>'))).toEqual([]);
    expect(validateHandoff(adding(review, '<summary>x</summary><status>success</status>'))).toEqual([]);
    expect(validateHandoff(adding('error', '<issue_number>7</issue_number>'))).toEqual([]);
  });

  it('unknown elements are refused, with a suggestion', () => {
    expect(problemsOf(adding(prepared, '<brannch>x</brannch>'))).toMatchObject([
      {
        code: 'handoff/unknown-element',
        message: 'Unknown element: brannch',
        hint: 'Did you mean `branch`?',
      },
    ]);
    expect(messagesOf(adding(prepared, '<commits/>'))).toEqual(['Unknown element: commits']);
    expect(messagesOf(adding(prepared, '<kind>handoff</kind>'))).toEqual(['Unknown element: kind']);
    expect(messagesOf(adding(prepared, '<constructor/><__proto__/>'))).toEqual([
      'Unknown element: constructor',
      'Unknown element: __proto__',
    ]);
    expect(messagesOf(changed(prepared, '<build>', '<lint>x</lint><build>'))).toEqual([
      'Unknown element: validation.lint',
    ]);
    expect(messagesOf(changed(implemented, '</commits>', '<comit sha="1">x</comit></commits>'))).toEqual([
      'Unknown element: commits.comit',
    ]);
  });

  it('duplicate elements are refused', () => {
    expect(problemsOf(adding(prepared, '<branch>other</branch>'))).toMatchObject([
      { code: 'handoff/duplicate-element', message: 'Duplicate element: branch', path: 'branch', line: 16 },
    ]);
    expect(messagesOf(changed(prepared, '<build>', '<build>x</build><build>'))).toEqual([
      'Duplicate element: validation.build',
    ]);
    expect(messagesOf(adding('base', '<from>other</from>'))).toEqual(['Duplicate element: from']);
  });

  it('elements may come in any order', () => {
    const lines = fixture('workflow-complete').trim().split('\n');
    const moved = [lines[0], ...lines.slice(8, -1), ...lines.slice(1, 8), lines.at(-1)].join('\n');
    expect(moved).not.toBe(fixture('workflow-complete').trim());
    expect(valueOf(moved)).toEqual(valueOf(fixture('workflow-complete')));
  });

  it('lists may be empty, except those that list what to fix', () => {
    expect(valueOf(changed(implemented, /<commits>[^]*<\/commits>/, '<commits/>'))).toMatchObject({
      commits: [],
    });
    expect(messagesOf(changed('ci-gate-to-fixer-agent', /<failures>[^]*<\/failures>/, '<failures/>'))).toEqual([
      'Element failures must have at least 1 failure',
    ]);
  });

  it('missing and unknown attributes are refused', () => {
    expect(messagesOf(changed(implemented, ' sha="abc123"', ''))).toEqual([
      'Missing required attribute: sha of commits[0]',
    ]);
    expect(messagesOf(changed(implemented, 'sha="abc123"', 'sha="abc123" author="x"'))).toEqual([
      'Unknown attribute: author of commits[0]',
    ]);
    expect(messagesOf(changed(implemented, '<branch>', '<branch text="x">'))).toEqual([
      'Unknown attribute: text of branch',
    ]);
    expect(messagesOf(changed(implemented, '<handoff>', '<handoff version="2">'))).toEqual([
      'Unknown attribute: version of handoff',
    ]);
  });

  it('text in place of elements is refused, and elements in place of text', () => {
    expect(messagesOf(changed(implemented, '>96%<', '><b>96%</b><'))).toEqual([
      'Element coverage must contain only text',
    ]);
    expect(messagesOf(changed(implemented, /<commits>[^]*<\/commits>/, '<commits>two</commits>'))).toEqual([
      'Element commits must contain elements, not text',
    ]);
    expect(messagesOf('<handoff>hello</handoff>')).toEqual(['Element handoff must contain elements, not text']);
    expect(messagesOf(changed(implemented, '>96%<', '> <'))).toEqual(['Element coverage must not be empty']);
  });
});
