import { describe, expect, it } from 'vitest';
import { utf8Length } from '../../protocol/text/text-format.ts';
import { tasksFrom } from './github-source.ts';

const url = (number: number): string => `https://github.com/owner/name/issues/${number}`;
const issue = (number: number, more = {}) => ({
  repository: 'owner/name',
  number,
  title: `No ${number}`,
  body: '',
  state: 'OPEN' as const,
  state_reason: null,
  labels: [],
  url: url(number),
  ...more,
});
const known = (id: string, issueUrl: string | null) => ({
  id,
  title: 'As it is',
  status: 'todo' as const,
  reason: null,
  priority: 0,
  after: [],
  issueUrl,
});

describe('tasks of issues at GitHub', () => {
  it("have the issue's number, text, priority, dependencies and address", () => {
    const made = tasksFrom(
      [
        issue(12, { body: 'After #7, #13 and #99.\r\n', labels: ['P1', 'in progress'] }),
        issue(13, { title: '  Two\nlines ' }),
      ],
      [known('7', null)],
    );
    expect(made).toMatchObject({
      ids: ['13', '12'],
      fresh: [
        { id: '13', title: 'Two lines', status: 'todo', githubIssue: { repository: 'owner/name', number: 13 } },
        {
          id: '12',
          status: 'todo',
          priority: 10,
          description: 'After #7, #13 and #99.',
          after: ['7', '13'],
          githubIssue: { repository: 'owner/name', number: 12 },
        },
      ],
      notices: ['12 waits for 99, which does not exist: skipped'],
    });
  });

  it('are used unchanged if they were imported before', () => {
    expect(tasksFrom([issue(12), issue(13)], [known('12', url(12))])).toMatchObject({
      ids: ['12', '13'],
      fresh: [{ id: '13' }],
    });
  });

  it('keep the start of a very long text, with the address of the rest', () => {
    const made = tasksFrom([issue(12, { body: 'é'.repeat(20_000) })], []);
    const description = made.ok ? (made.fresh[0]?.description ?? '') : '';
    expect(description).toMatch(/^é+\n\n\[cut here; all of it: https:\/\/github\.com\/owner\/name\/issues\/12\]$/);
    expect(utf8Length(description)).toBeLessThanOrEqual(16_384);
  });

  it.each([
    ['the issue is closed', issue(12, { state: 'CLOSED' }), 'import/issue-closed', `gh issue reopen ${url(12)}`],
    ['it is blocked', issue(12, { labels: ['Blocked'] }), 'import/issue-blocked', '--remove-label blocked'],
    ['its id is that of another task', issue(7), 'task-exists', 'baton run issue --task 7'],
    ['it has no title', issue(12, { title: ' ' }), 'import/no-title', 'Give it a title.'],
  ])('are refused if %s', (_, given, code, hint) => {
    const refused = tasksFrom([issue(5), given], [known('7', null)]);
    expect(refused).toMatchObject({ ok: false, error: { code, hint: expect.stringContaining(hint) } });
  });
});
