import { describe, expect, it } from 'vitest';
import { adding, changed, fixture, messagesOf, problemsOf, valueOf } from './fixtures.cases.ts';
import { renderHandoff, validateHandoff } from './index.ts';

const implemented = 'implementer-agent-to-reviewer-agent';
const review = 'reviewer-agent-to-fixer-agent';
const approval = 'reviewer-agent-to-validator-agent';
const prepared = 'prep-agent-to-implementer-agent';
const merged = 'validator-agent-to-closer-agent';

describe('text is data', () => {
  it.each([
    ['issue_number', '123', '00123'],
    ['branch', 'feature/issue-123-user-auth', 'no'],
    ['branch', 'feature/issue-123-user-auth', '1e5'],
    ['coverage', '96%', '1e5'],
    ['coverage', '96%', 'true'],
    ['summary', 'Implemented user authentication with JWT tokens', '012'],
  ])('%s: %s may be %s and stays unchanged', (name, before, after) => {
    const value = valueOf(changed(implemented, `<${name}>${before}<`, `<${name}>${after}<`));
    expect(value).toMatchObject({ [name]: after });
    expect(valueOf(renderHandoff(value))).toEqual(value);
  });

  it('a commit of 1e5 stays text', () => {
    const value = valueOf(changed(implemented, 'sha="abc123"', 'sha="1e5"'));
    expect(value).toMatchObject({ commits: [{ sha: '1e5' }, { sha: 'def456' }] });
  });

  it('only declared counts become numbers, and they are rendered as they were written', () => {
    expect(valueOf(fixture(implemented))).toMatchObject({ files_changed: 12, tests_added: 24 });
    for (const wrong of ['1e5', '007', '-1', '+1', '1.0', '0x10', '1_000', '', 'many', '９', '9007199254740992']) {
      expect(messagesOf(changed(implemented, '>12<', `>${wrong}<`))).toEqual([
        'Element files_changed must be a whole number ≥ 0',
      ]);
    }
    expect(valueOf(changed(implemented, '>12<', '>9007199254740991<'))).toMatchObject({
      files_changed: Number.MAX_SAFE_INTEGER,
    });
  });

  it('recoverable is true or false', () => {
    expect(valueOf(changed('error', '>true<', '>false<'))).toMatchObject({ error: { recoverable: false } });
    expect(messagesOf(changed('error', '>true<', '>yes<'))).toEqual([
      'Element error.recoverable must be true or false',
    ]);
  });
});

describe('values', () => {
  it.each([
    [
      'issue-manager-to-prep-agent',
      '<type>feature<',
      '<type>features<',
      "Element type must be one of feature, bug, enhancement, refactor, chore: got 'features'",
    ],
    [
      'issue-manager-to-prep-agent',
      '<priority>critical<',
      '<priority>High<',
      "Element priority must be one of critical, high, medium, low: got 'High'",
    ],
    [prepared, '>worktree<', '>vm<', "Element workspace_type must be one of worktree, in-place, cloud: got 'vm'"],
    [review, '>changes_requested<', '>approved<', "Element review_status must be changes_requested: got 'approved'"],
    [
      review,
      'severity="important"',
      'severity="minor"',
      "Attribute severity of blocking_issues[2] must be one of critical, important, suggestion: got 'minor'",
    ],
    [
      'validator-agent-to-fixer-agent',
      '>failed<',
      '>passed<',
      "Element validation_status must be failed: got 'passed'",
    ],
    [merged, '>merged<', '>open<', "Element merge_status must be merged: got 'open'"],
    [merged, '>squash<', '>octopus<', "Element merge_strategy must be one of squash, merge, rebase: got 'octopus'"],
    ['workflow-complete', '>completed<', '>success<', "Element status must be completed: got 'success'"],
    ['error', '>failure<', '>success<', "Element status must be failure: got 'success'"],
    [prepared, '>3100<', '>65536<', 'Element port must be from 1 to 65535: got 65536'],
    [implemented, '>456<', '>#456<', "Element pr_number must be a number in digits: got '#456'"],
    [
      implemented,
      'sha="abc123"',
      'sha="--help"',
      "Attribute sha of commits[0] must be a commit in hexadecimal digits: got '--help'",
    ],
    [
      'base',
      '2024-01-15T10:30:00Z',
      '2024-02-30T10:30:00Z',
      "Element timestamp must be a date and time in ISO 8601: got '2024-02-30T10:30:00Z'",
    ],
    [
      'base',
      '>source-agent-name<',
      '>source agent<',
      "Element from must be the name of an agent (letters, digits, . _ -, at most 64): got 'source agent'",
    ],
  ] as const)('%s: %s must not be %s', (name, before, after, message) => {
    expect(messagesOf(changed(name, before, after))).toEqual([message]);
  });

  it('ready and ready-for-re-review are statuses of their edges only', () => {
    const five = 'success, failure, blocked, pending, skipped';
    expect(messagesOf(adding(review, '<status>ready</status>'))).toEqual([
      `Element status must be one of ${five}: got 'ready'`,
    ]);
    expect(messagesOf(changed(prepared, '>ready<', '>ready-for-re-review<'))).toEqual([
      `Element status must be one of ${five}, ready: got 'ready-for-re-review'`,
    ]);
    for (const status of five.split(', ').slice(1)) {
      expect(validateHandoff(changed('base', /<status>.*<\/status>/, `<status>${status}</status>`))).toEqual([]);
    }
  });

  it.each([
    '-x',
    '--upload-pack=x',
    '.x',
    'a/.b',
    'a..b',
    'a.lock',
    'a.lock/b',
    'a/',
    '/a',
    'a//b',
    'a b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a.',
    '@',
    'a@{b',
    'HEAD',
    'a&#9;b',
    'a&#127;b',
  ])('refuses the branch %s', (branch) => {
    const [message] = messagesOf(changed(implemented, 'feature/issue-123-user-auth', branch));
    expect(message).toMatch(/^Element branch must be a valid git branch name that does not start with -: got '/);
  });

  it.each(['main', 'a/b', 'ünï/cödé', 'a-', 'a.b', 'a@b', '@a', 'a{b', '1'])('accepts the branch %s', (branch) => {
    expect(validateHandoff(changed(implemented, 'feature/issue-123-user-auth', branch))).toEqual([]);
  });

  it.each([
    'github.com/x',
    'ftp://host/x',
    'https://',
    'https:///x',
    'javascript:alert(1)',
    'https://a b/c',
    'https://h/&#9;x',
    'https://h/ö&#160;',
    'file:///etc/passwd',
    'https://h:99999/',
  ])('refuses the URL %s', (url) => {
    const [message] = messagesOf(changed(implemented, 'https://github.com/owner/repo/pull/456', url));
    expect(message).toMatch(/^Element pr_url must be an http or https URL with a host/);
  });

  it.each(['http://localhost:3000/x', 'https://h', 'HTTPS://H/x?y=1#z', 'http://[::1]/'])(
    'accepts the URL %s',
    (url) => {
      expect(validateHandoff(changed(implemented, 'https://github.com/owner/repo/pull/456', url))).toEqual([]);
    },
  );
});

describe('counts and findings', () => {
  it('a count must be at least the number of listed issues of its severity', () => {
    expect(messagesOf(changed(review, '<critical_count>2<', '<critical_count>1<'))).toEqual([
      'Element critical_count is 1, but blocking_issues lists 2 with severity critical',
    ]);
    expect(validateHandoff(changed(review, '<critical_count>2<', '<critical_count>9<'))).toEqual([]);
    expect(messagesOf(changed(review, '<important_count>3<', '<important_count>0<'))).toEqual([
      'Element important_count is 0, but blocking_issues lists 1 with severity important',
    ]);
    expect(validateHandoff(changed(review, '<suggestion_count>4<', '<suggestion_count>0<'))).toEqual([]);
  });

  it('approved means no critical and no important finding', () => {
    for (const name of ['critical_count', 'important_count']) {
      expect(problemsOf(changed(approval, `<${name}>0<`, `<${name}>1<`))).toMatchObject([
        {
          code: 'handoff/count-out-of-range',
          message: `Element ${name} must be 0: got 1`,
          hint: 'Correct it. Here `approved` means no such finding is left.',
        },
      ]);
    }
  });
});

describe('sender and receiver', () => {
  it('are checked first, because they decide what else is required', () => {
    expect(messagesOf('<handoff><branch>x</branch></handoff>')).toEqual([
      'Missing required element: from',
      'Missing required element: to',
    ]);
  });

  it('are named in the problem if no edge leads from one to the other', () => {
    expect(problemsOf(changed(review, '>fixer-agent<', '>fixer-agnet<'))).toMatchObject([
      {
        code: 'handoff/no-edge',
        message: 'No edge leads from reviewer-agent to fixer-agnet',
        path: 'to',
        line: 3,
        column: 3,
        hint: 'Did you mean `fixer-agent`? Errors go to orchestrator.',
      },
    ]);
  });

  it('the base form is only for agents without an edge between them', () => {
    const onEdge = changed('base', '>source-agent-name<', '>prep-agent<').replace(
      '>target-agent-name<',
      '>implementer-agent<',
    );
    expect(messagesOf(onEdge)).toContain('Missing required element: branch');
    expect(messagesOf(adding('base', '<branch>x</branch>'))).toEqual(['Unknown element: branch']);
  });

  it('there are two kinds of messages', () => {
    expect(problemsOf('<hand-off/>')).toMatchObject([
      {
        code: 'handoff/unknown-kind',
        message: 'Unknown root element: hand-off (expected handoff or workflow-complete)',
        hint: 'Did you mean `handoff`?',
      },
    ]);
    expect(messagesOf({ kind: 'goodbye' })).toEqual(['Unknown kind: goodbye (expected handoff or workflow-complete)']);
  });
});
