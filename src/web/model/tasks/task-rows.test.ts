import { describe, expect, it } from 'vitest';
import { event } from '../../../state/event.ts';
import { given } from '../../../state/given.cases.ts';
import { claim, create, operate, operator, worker } from '../../../state/say.cases.ts';
import { evolve } from '../../../state/state.ts';
import { listTasks, type TasksParams } from './task-rows.ts';

/** Older entries have longer titles than a new task may have. */
const OLDER = {
  task_id: 'A',
  n: 1,
  after: [],
  priority: 0,
  phase: 'IMPLEMENTATION',
  next_role: null,
  prompt_file: null,
  epic_id: null,
  prd_id: null,
} as const;

const world = () =>
  given([
    [create('A', { title: 'Parse the dates' }), operator],
    [create('B', { title: 'Print the dates', after: ['A'], nextRole: 'implementer' }), operator],
    [create('C', { title: 'Sign the export', priority: 5 }), operator],
    [create('D', { title: 'Drop the cache' }), operator],
    [create('E', { title: 'Explain the export', after: ['B'] }), operator],
    [create('F', { title: 'Fetch' }), operator],
    [claim('C', 's1', { holder: 'coder' }), worker],
    [operate('waive', 'done', 'D'), operator],
    [operate('cancel', 'no', 'F'), operator],
  ]).state;

function list(more: Partial<TasksParams> = {}, state = world()) {
  return listTasks(state, { q: '', order: 'status', from: 0, to: 100, ...more });
}
const idsOf = (more: Partial<TasksParams> = {}) =>
  list(more)
    .rows.map(({ id }) => id)
    .join(' ');

describe('the list of tasks', () => {
  it('shows what is under way first, then what is left, then what is over', () => {
    expect(idsOf()).toBe('C A B E D F');
    expect(idsOf({ order: 'oldest' })).toBe('A B C D E F');
    expect(idsOf({ order: 'newest' })).toBe('F E D C B A');
    expect(idsOf({ order: 'urgent' })).toBe('A B C E D F');
  });

  it('has in each row what a person needs to see', () => {
    const [c, a, b] = list().rows;
    const since = '2026-01-01T00:00:00.000Z';
    const rest = { phase: 'IMPLEMENTATION', since, role: null, holder: null, because: null };
    expect(c).toEqual({ ...rest, id: 'C', title: 'Sign the export', status: 'in_progress', activity: 'running', isClaimable: false, holder: 'coder', waits: 0, priority: 5, isCritical: false }); // prettier-ignore
    expect(a).toEqual({ ...rest, id: 'A', title: 'Parse the dates', status: 'todo', activity: 'queued', isClaimable: true, waits: 0, priority: 0, isCritical: true }); // prettier-ignore
    expect(b).toEqual({ ...rest, id: 'B', title: 'Print the dates', status: 'todo', activity: 'pending', isClaimable: false, role: 'implementer', waits: 1, priority: 0, isCritical: true }); // prettier-ignore
  });

  it('gives only the window that is asked for, and how many there are', () => {
    const { rows, total, from } = list({ from: 2, to: 4 });
    expect([total, from, rows.map(({ id }) => id)]).toEqual([6, 2, ['B', 'E']]);
  });

  it("filters, and counts the rest of the filter's matches by status", () => {
    expect(idsOf({ q: 'export' })).toBe('C E');
    expect(idsOf({ q: 'claimable:yes' })).toBe('A');
    expect(idsOf({ q: 'role:implementer' })).toBe('B');
    expect(idsOf({ q: 'holder:coder' })).toBe('C');
    expect(idsOf({ q: 'critical:yes' })).toBe('A B E');
    expect(idsOf({ q: 'after:b' })).toBe('E');
    expect(idsOf({ q: 'before:b' })).toBe('A');
    expect(idsOf({ q: 'activity:pending' })).toBe('B E');
    const { total, counts } = list({ q: 'dates status:done' });
    expect([total, counts]).toEqual([0, { todo: 2, in_progress: 0, blocked: 0, done: 0, cancelled: 0 }]);
  });

  it('reports what it cannot parse, and shows nothing then', () => {
    const { total, problems, counts } = list({ q: 'export color:red' });
    expect([total, problems, counts.todo]).toEqual([0, [expect.stringContaining('There is no filter color.')], 0]);
  });

  it('reports the position of the chosen task', () => {
    expect(list({ chosen: 'B' }).chosenAt).toBe(2);
    expect(list({ chosen: 'B', q: 'export' }).chosenAt).toBe(-1);
  });

  it('knows the roles and holders, and how long the critical path is', () => {
    const { roles, holders, criticalLength } = list();
    expect([roles, holders, criticalLength]).toEqual([['implementer'], ['coder'], 3]);
  });

  it('marks no task as critical if none waits for another', () => {
    const { state } = given([[create('A'), operator]]);
    const { rows, criticalLength } = list({}, state);
    expect([rows[0]?.isCritical, criticalLength]).toEqual([false, 0]);
  });

  it('follows the state, which changes in place', () => {
    const state = world();
    expect(list({ q: 'status:blocked' }, state).total).toBe(0);
    const data = {
      task_id: 'A',
      from: 'IMPLEMENTATION',
      to: 'BLOCKED',
      next_role: null,
      cause: 'updated',
      reason: 'no key',
    } as const;
    evolve(state, {
      type: 'PhaseMoved',
      data,
      seq: state.seq + 1,
      at: '2026-01-02T00:00:00.000Z',
      actor: 'operator:ann',
    });
    expect(list({ q: 'status:blocked' }, state).rows).toMatchObject([
      { id: 'A', status: 'blocked', because: 'no key', since: '2026-01-02T00:00:00.000Z' },
    ]);
  });

  it('cuts a title that is too long for a row', () => {
    const { state } = given([event('TaskCreated', { ...OLDER, title: 'x'.repeat(4000) })]);
    expect(list({}, state).rows[0]?.title).toHaveLength(300);
  });

  it('does not offer a task whose checks run', () => {
    const { state } = given([
      [create('A', { phase: 'CI_PENDING' }), operator],
      [create('B', { phase: 'CI_PENDING' }), operator],
    ]);
    const task = state.tasks.get('B');
    const checks = { id: 'c', head: 'h', plans: [], outcomes: {}, outcome: null };
    if (task !== undefined) state.tasks.set('B', { ...task, flow: { ...task.flow, checks } });
    expect(list({ q: 'claimable:yes' }, state).rows.map(({ id }) => id)).toEqual(['A']);
  });
});
