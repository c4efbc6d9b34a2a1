import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { essence, roundTrip } from './arbitrary.cases.ts';
import { findFormat, FORMATS } from './formats.ts';
import type { FormatName, ImportedTasks } from './task.ts';

const folder = join(import.meta.dirname, '../../test/fixtures/exchange');
const fixture = (name: string): string => readFileSync(join(folder, name), 'utf8');

function read(name: FormatName, text: string, options = {}): ImportedTasks {
  const parsed = FORMATS[name].read(text, options);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message, line }) => `${line}: ${message}`).join('\n'));
  return parsed.value;
}

function problems(name: FormatName, text: string) {
  const parsed = FORMATS[name].read(text);
  return parsed.ok ? [] : parsed.problems.map(({ code, line, message }) => `${line} ${code}: ${message}`);
}

const rows = ({ tasks }: ImportedTasks) =>
  tasks.map(({ id, status, after }) => `${id} ${status} ${after.join(',')}`.trim());

describe('a file of task-master', () => {
  it('resolves dependencies as task-master does', () => {
    expect(rows(read('task-master', fixture('task-master.json')))).toEqual([
      '1 done',
      '2 in_progress 1',
      '3.1 in_progress 1,2',
      '3.2 todo 3.1,1,2',
      '3.3 todo 2,3.1,1',
      '3 in_progress 1,2,3.1,3.2,3.3',
      '4 blocked 3',
      '5 blocked',
    ]);
  });

  it('keeps the texts of a task and the reason of a block', () => {
    const { tasks, notices } = read('task-master', fixture('task-master.json'));
    expect(tasks.find(({ id }) => id === '3')).toMatchObject({
      description: 'One handler per route.\n\nStart with GET.\nThen POST.',
      priority: 0,
      reason: null,
    });
    expect(tasks.find(({ id }) => id === '5')).toMatchObject({ reason: 'deferred in task-master' });
    expect(notices).toEqual([{ message: 'the tag later (1 tasks) is skipped; read it with --tag later', line: 121 }]);
  });

  it('reads lists under tags, and the single list of old files', () => {
    expect(rows(read('task-master', fixture('task-master.json'), { tag: 'later' }))).toEqual(['1 todo']);
    expect(rows(read('task-master', '{"tasks":[{"id":1,"title":"a"}]}'))).toEqual(['1 todo']);
    expect(problems('task-master', '{"a":{"tasks":[]},"b":{"tasks":[]}}')).toEqual([
      '1 import/no-tag: the file has no list of tasks, or several without the tag master',
    ]);
  });

  it('reports the position of each problem', () => {
    const text = `{"tasks": [
      {"id": 1, "title": "a", "dependencies": [9]},
      {"id": 1, "title": "b"},
      {"title": "c"},
      {"id": 4, "title": ""},
      {"id": 5, "title": "x", "dependencies": [6]},
      {"id": 6, "title": "y", "dependencies": ["5"]},
      7
    ]}`;
    expect(problems('task-master', text)).toEqual([
      '8 import/not-a-task: a task is not an object',
      '4 import/no-id: a task without an id',
      '3 import/duplicate-id: the id 1 appears twice, first in line 2',
      '2 import/unknown-dependency: 1 waits for 9, which does not exist',
      '6 import/cycle: cycle: 5 → 6 → 5',
      '5 import/no-title: 4 has no title',
    ]);
  });
});

describe('an export of beads', () => {
  it('may have a part that depends on its parent; then the parent does not depend on it', () => {
    const whole = { id: 'b-1', title: 'Fix the schema', status: 'closed', priority: 1 };
    const on = { issue_id: 'b-2', depends_on_id: 'b-1' };
    const dependencies = [
      { ...on, type: 'parent-child' },
      { ...on, type: 'blocks' },
    ];
    const part = { id: 'b-2', title: 'Verify the fix', status: 'open', priority: 1, dependencies };
    const reading = read('beads', `${JSON.stringify(whole)}\n${JSON.stringify(part)}\n`);
    expect(reading.tasks.map(({ id, after }) => [id, after])).toEqual([
      ['b-1', []],
      ['b-2', ['b-1']],
    ]);
    expect(reading.notices.map(({ message }) => message)).toEqual([
      'b-2 waits for its own parent, so it is read as a separate task after the parent',
    ]);
  });

  it('lets parts inherit the dependencies of their parent', () => {
    expect(rows(read('beads', fixture('beads.jsonl')))).toEqual([
      'bd-7c1e done',
      'bd-a3f8.1 in_progress bd-7c1e',
      'bd-a3f8.2 todo bd-a3f8.1,bd-7c1e',
      'bd-a3f8 todo bd-7c1e,bd-a3f8.1,bd-a3f8.2',
      'bd-91d0 blocked',
    ]);
  });

  it('has no status for cancelled: such a task is written as blocked, with a note', () => {
    const cancelled = { id: 'a-1', title: 'x', description: '', reason: 'late', priority: 0, after: [] };
    const rendered = FORMATS.beads.render([{ ...cancelled, status: 'cancelled' }], { at: '2026-01-01T00:00:00.000Z' });
    if (!rendered.ok) throw new Error('it is refused');
    expect(rows(read('beads', rendered.value.text))).toEqual(['a-1 blocked']);
    expect(rendered.value.notices).toEqual([
      { message: 'a-1 is cancelled, a status that beads lacks: written as blocked', line: null },
    ]);
  });

  it('reports records that are not tasks, and rewrites ids that Baton cannot use', () => {
    expect(read('beads', fixture('beads.jsonl')).notices).toEqual([
      { message: 'a memory is not a task: skipped', line: 6 },
    ]);
    const odd = read(
      'beads',
      '{"id":"a b","title":"x"}\n{"id":"c","title":"y","dependencies":[{"depends_on_id":"a b"}]}\n',
    );
    expect(rows(odd)).toEqual(['x--a_20_b todo', 'c todo x--a_20_b']);
    expect(odd.notices).toEqual([{ message: 'the id a b becomes x--a_20_b', line: 1 }]);
  });

  it('reports the line of each problem', () => {
    expect(problems('beads', '{"id":"a","title":"x"}\n\n{"id":"b",\n"c"\n')).toEqual([
      '3 invalid-json: invalid JSON: unexpected end, expected `"`',
      '4 import/not-a-task: a line that is not an object',
    ]);
  });
});

describe('a cancelled task', () => {
  const task = { id: '4', title: 'x', description: '', reason: 'too late', priority: 0, after: [] };
  const written = (name: FormatName, status: 'cancelled' | 'blocked', existing?: string): string => {
    const options = { at: '2026-01-01T00:00:00.000Z', ...(existing === undefined ? {} : { existing }) };
    const rendered = FORMATS[name].render([{ ...task, status }], options);
    return rendered.ok ? rendered.value.text : rendered.problems[0].message;
  };

  it("is cancelled in each tool's own status, if it has one", () => {
    expect(written('markdown', 'cancelled')).toBe('- [-] x (id: 4; cancelled: too late)\n');
    expect(written('task-master', 'cancelled')).toContain('"status": "cancelled"');
    expect(JSON.parse(written('github', 'cancelled'))).toMatchObject([{ state: 'CLOSED', stateReason: 'NOT_PLANNED' }]);
  });

  it('keeps its reason in a list, and differs from a blocked task', () => {
    const text = written('markdown', 'cancelled');
    expect(read('markdown', text).tasks).toMatchObject([{ status: 'cancelled', reason: 'too late' }]);
    expect(written('markdown', 'blocked', text)).toBe('- [!] x (id: 4; blocked: too late)\n');
    expect(
      read('markdown', '- [-] a1: x\n- [!] a2: y\n').tasks.map(({ status, reason }) => `${status}: ${reason}`),
    ).toEqual(['cancelled: cancelled in the list', 'blocked: blocked in the list']);
  });
});

describe('issues of GitHub', () => {
  it('depend on the issues that their text names, even in a task list, but not in code', () => {
    expect(rows(read('github', fixture('github.json')))).toEqual([
      '2 done',
      '7 blocked 2',
      '3 in_progress 2,7',
      '1 todo 2,3',
      '6 cancelled',
    ]);
  });

  it('report dependencies outside the list', () => {
    const { notices, tasks } = read('github', fixture('github.json'));
    expect(notices).toEqual([{ message: '7 waits for 17, which does not exist: skipped', line: 29 }]);
    expect(tasks.find(({ id }) => id === '3')).toMatchObject({ priority: 10 });
    expect(tasks.find(({ id }) => id === '6')).toMatchObject({ reason: 'closed as not planned on GitHub' });
  });
});

describe('the address of an issue of GitHub', () => {
  const link = (more: object): unknown => {
    const issue = { number: 12, title: 'One', body: '', state: 'OPEN', labels: [], ...more };
    return read('github', JSON.stringify([issue])).tasks[0]?.githubIssue;
  };

  it('is kept, as gh and the API of GitHub write it', () => {
    const expected = { repository: 'owner/name', number: 12 };
    expect(link({ url: 'https://github.com/owner/name/issues/12' })).toEqual(expected);
    const html_url = 'https://GitHub.com/owner/name/issues/12';
    expect(link({ url: 'https://api.github.com/repos/owner/name/issues/12', html_url })).toEqual(expected);
    expect(link({ url: 'https://git.example.org/owner/name/issues/12' })).toEqual({
      repository: 'git.example.org/owner/name',
      number: 12,
    });
  });

  it.each([
    ['missing', {}],
    ['that of another issue', { url: 'https://github.com/owner/name/issues/13' }],
    ['that of a pull request', { url: 'https://github.com/owner/name/pull/12' }],
    ['no address', { url: 'https://github.com/../name/x/issues/12' }],
  ])('does not count if it is %s', (_, more) => {
    expect(link(more)).toBeUndefined();
  });
});

describe('issues of GitHub that depend on each other', () => {
  it('keep all tasks of a cycle, and skip one dependency with a notice', () => {
    const issue = (number: number, body: string) => ({
      number,
      title: `No ${number}`,
      body,
      state: 'OPEN',
      labels: [],
    });
    const issues = [
      issue(1, '- [ ] #2\n- [ ] #3'),
      issue(2, 'seen after #1'),
      issue(3, 'requires #4'),
      issue(4, 'blocked by #1 and #2'),
    ];
    const reading = read('github', JSON.stringify(issues));
    expect(rows(reading)).toEqual(['2 todo', '4 todo 2', '3 todo 4', '1 todo 2,3']);
    expect(reading.notices.map(({ message }) => message)).toEqual([
      '2 waits for 1, which waits for it: skipped',
      '4 waits for 1, which waits for it: skipped',
    ]);
  });
});

describe('a list in Markdown', () => {
  it('has tasks in its checkboxes, and parts below them', () => {
    expect(rows(read('markdown', fixture('TODO.md')))).toEqual([
      'T1 done',
      'T2 todo T1',
      'route-by-path in_progress',
      'limit-the-size-of-a-body todo route-by-path',
      'T3 todo route-by-path,limit-the-size-of-a-body',
      'ask-for-a-domain blocked',
      'ubersetze-das-handbuch todo',
    ]);
  });

  it('keeps the text below an item', () => {
    const { tasks } = read('markdown', fixture('TODO.md'));
    const body = 'TOML and YAML give the same values.\n\n```\n- [ ] this is code\n```';
    expect(tasks.find(({ id }) => id === 'T2')).toMatchObject({ description: body, priority: 5 });
    expect(tasks.find(({ id }) => id === 'limit-the-size-of-a-body')).toMatchObject({
      description: '- a plain item says more',
    });
    expect(tasks.find(({ id }) => id === 'ask-for-a-domain')).toMatchObject({ reason: 'waits for the bank' });
  });

  it('has no tasks in code, even without an empty line before it', () => {
    expect(rows(read('markdown', '- [ ] yes\n~~~\n- [ ] no\n~~~\n- [ ] too\n'))).toEqual(['yes todo', 'too todo']);
  });

  it('reports unknown checkboxes, but not those in code', () => {
    const reading = read(
      'markdown',
      '* [>] moved\n+ [ ] one\n1) [?] what\n2) [x] two\n   ```\n   - [?] code\n   ```\n',
    );
    expect(rows(reading)).toEqual(['one todo', 'two done']);
    expect(reading.notices).toEqual([
      { message: 'the box [>] is unknown: the item is not read as a task', line: 1 },
      { message: 'the box [?] is unknown: the item is not read as a task', line: 3 },
    ]);
    expect(read('markdown', '- [1] a note\n- another\n').notices).toEqual([]);
  });

  it('without checkboxes is a list of tasks; a second item of the same title gets a number', () => {
    const reading = read('markdown', '# Plan\n* one\n* two\n  text\n* one\n\nthe end\n');
    expect(rows(reading)).toEqual(['one todo', 'two todo', 'one-2 todo']);
    expect(reading.notices).toEqual([
      { message: 'another item has the same title: this one gets the id one-2', line: 5 },
    ]);
  });

  it('may depend on existing tasks', () => {
    expect(problems('markdown', '- [ ] a (after: P0)\n')).toEqual([
      '1 import/unknown-dependency: a waits for P0, which does not exist',
    ]);
    expect(rows(read('markdown', '- [ ] a (after: P0)\n', { known: new Set(['P0']) }))).toEqual(['a todo P0']);
  });

  it('can be in another script, and has unrelated remarks', () => {
    const [first, second] = read('markdown', '- 修复登录\n- Ship it (finally)\n').tasks;
    expect(first).toMatchObject({ id: expect.stringMatching(/^task-[0-9a-f]{8}$/), title: '修复登录' });
    expect(second).toMatchObject({ id: 'ship-it-finally', title: 'Ship it (finally)' });
  });
});

const FIXTURES = [
  ['TODO.md', 'markdown'],
  ['task-master.json', 'task-master'],
  ['beads.jsonl', 'beads'],
  ['github.json', 'github'],
] as const;

describe('every format', () => {
  it.each(FIXTURES)('%s is recognised as %s', (file, name) => {
    expect(findFormat(fixture(file))).toBe(name);
  });

  it.each(FIXTURES)(
    '%s survives export and import: ids, titles, status, dependencies; its own file stays unchanged',
    (file, name) => {
      const { tasks } = read(name, fixture(file));
      expect(roundTrip(FORMATS[name], tasks)).toEqual({ tasks: essence(tasks), isOrdered: true, isStill: true });
      const own = FORMATS[name].render(tasks, { existing: fixture(file), at: '2026-01-01T00:00:00.000Z' });
      const text = own.ok ? own.value.text : '';
      // The output of `gh` is not a file that people edit, so only its values are compared.
      const said = (whole: string): unknown => (name === 'github' ? JSON.parse(whole) : whole);
      expect(said(text)).toEqual(said(fixture(file)));
    },
  );

  it('has limits, and reaches them quickly', () => {
    const line = (i: number): string => `- [ ] T${i}: x${i > 0 ? ` (after: T${i - 1})` : ''}\n`;
    const many = Array.from({ length: 10_000 }, (_, i) => line(i)).join('');
    const began = workedMs();
    expect(read('markdown', many).tasks).toHaveLength(10_000);
    expect(problems('markdown', `${many}- [ ] one more\n`)).toEqual([
      '10001 import/too-many: 10001 tasks > 10000 tasks maximum',
    ]);
    expect(problems('markdown', 'x'.repeat(8 * 1024 * 1024 + 1))).toEqual([
      'null too-large: input too large: 8388609 bytes > 8388608 bytes maximum',
    ]);
    expect(problems('markdown', `- ${'x'.repeat(1001)}`)).toHaveLength(1);
    expect(problems('markdown', Array.from({ length: 40 }, (_, i) => `${' '.repeat(i)}- a${i}`).join('\n'))).toEqual([
      expect.stringContaining('import/too-deep'),
    ]);
    expect(workedMs() - began).toBeLessThan(10_000);
  });

  it.each([
    ['spaces', `- a${' '.repeat(1_000_000)}b\n`],
    ['brackets', `- ${'('.repeat(1_000_000)}\n`],
    ['blank lines', `- a\n${'\n'.repeat(1_000_000)}b\n`],
    ['stars', `${'* '.repeat(500_000)}x\n`],
    ['deep JSON', '['.repeat(1_000_000)],
    ['after', `[{"number":1,"title":"a","body":"${'after '.repeat(150_000)}${'\\n'.repeat(200_000)}"}]`],
  ])('reads a megabyte of %s in time', (_, text) => {
    const began = workedMs();
    const name = findFormat(text) ?? 'markdown';
    expect(FORMATS[name].read(text)).toHaveProperty('ok');
    expect(workedMs() - began).toBeLessThan(5000);
  });
});

/** The CPU time of this thread only, because a busy machine runs others in between. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
