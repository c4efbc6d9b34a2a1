import { describe, expect, it } from 'vitest';
import type { Command } from './decide.ts';
import { given } from './given.cases.ts';
import { create, operator, session, system, worker } from './say.cases.ts';
import { taskStatus } from './tasks/task.ts';

type Tasks = Extract<Command, { kind: 'import-tasks' }>['command']['tasks'];

const importing = (...tasks: Tasks): Command => ({ kind: 'import-tasks', command: { source: 'list.md', tasks } });

describe('an import', () => {
  it('creates every task with the status that it has elsewhere, and numbers them in order', () => {
    const { task, answer } = given([])
      .when(
        importing(
          { id: 'todo', title: 'a', priority: 3 },
          { id: 'begun', title: 'b', status: 'in_progress', after: ['todo'] },
          { id: 'done', title: 'c', status: 'done' },
          { id: 'stuck', title: 'd', status: 'blocked', reason: 'no key' },
          { id: 'gone', title: 'e', status: 'cancelled' },
        ),
        operator,
      )
      .thenTypes([
        'TaskCreated',
        'TaskCreated',
        'PhaseMoved',
        'TaskCreated',
        'WritebackWaived',
        'PhaseMoved',
        'TaskCreated',
        'TaskProgressed',
        'PhaseMoved',
        'TaskCreated',
        'PhaseMoved',
      ]);
    const ids = ['todo', 'begun', 'done', 'stuck', 'gone'];
    expect(ids.map((id) => [taskStatus(task(id)), task(id).n])).toEqual([
      ['todo', 1],
      ['in_progress', 2],
      ['done', 3],
      ['blocked', 4],
      ['cancelled', 5],
    ]);
    expect(task('stuck').blocked?.reason).toContain('no key');
    expect(answer).toEqual({ added: 5, existing: 0 });
  });

  it("keeps the other tool's text, and the issue at GitHub", () => {
    const githubIssue = { repository: 'owner/name', number: 12 };
    const { task } = given([])
      .when(importing({ id: '12', title: 'a', description: 'All of it.', githubIssue }), operator)
      .thenTypes(['TaskCreated']);
    expect(task('12')).toMatchObject({ description: 'All of it.', githubIssue });
  });

  it('counts an existing task and leaves it unchanged', () => {
    const { task, answer } = given([[create('A'), operator]])
      .when(importing({ id: 'A', title: 'other', status: 'done' }, { id: 'B', title: 'b', after: ['A'] }), operator)
      .thenTypes(['TaskCreated']);
    expect(answer).toEqual({ added: 1, existing: 1 });
    expect(taskStatus(task('A'))).toBe('todo');
  });

  it('creates no task if one is refused, and names that one', () => {
    given([])
      .when(importing({ id: 'A', title: 'a' }, { id: 'B', title: ' ' }), operator)
      .thenRefused('B: a task needs a title');
    given([])
      .when(importing({ id: 'A', title: 'a', after: ['Z'] }), operator)
      .thenRefused('no-such-task');
    given([])
      .when(importing({ id: 'A', title: 'a' }, { id: 'A', title: 'again' }), operator)
      .thenRefused('task-exists');
  });

  it.each([system, session(), worker])('is refused for any other caller than an operator', (caller) => {
    given([]).when(importing(), caller).thenRefused('forbidden');
  });
});
