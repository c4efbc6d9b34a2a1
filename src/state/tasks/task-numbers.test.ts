import { describe, expect, it } from 'vitest';
import { event, EVENTS, type EventType, tasksAbout } from '../event.ts';
import { emptyState, foldEntry } from '../state.ts';
import { given, OPEN } from '../given.cases.ts';
import { operator } from '../say.cases.ts';
import { decide } from '../decide.ts';
import { numberEntry } from './task-numbers.ts';

const fields = { n: 1, title: 't', priority: 0, phase: 'DRAFT', next_role: null } as const;
const created = event('TaskCreated', {
  ...fields,
  after: [],
  task_id: 'A',
  prompt_file: null,
  epic_id: null,
  prd_id: null,
});

function entry(seq: number, { type, data }: ReturnType<typeof event>, tasks?: Record<string, number>) {
  const common = { project: 'p', prev: '', cause: null, seq, at: '', actor: 'system:x', type };
  const json = JSON.parse(JSON.stringify(data));
  return tasks === undefined
    ? { v: 1 as const, ...common, data: json }
    : { v: 2 as const, ...common, data: json, tasks };
}

describe('the tasks of an entry', () => {
  it('are those of task_id, of the claim, or that main has got commits of', () => {
    const suspects = { sessions: [], authors: [], stat: null, upstream: null, on_upstream: null, commits: 1 };
    const moved = { branch: 'main', old: 'a', new: 'b', fast_forward: true, ...suspects };
    expect(tasksAbout(created)).toEqual(['A']);
    expect(tasksAbout(event('DependencyAdded', { task_id: 'A', after: 'B' }))).toEqual(['A']);
    expect(tasksAbout(event('MainMoved', { ...moved, carried: ['A', 'B', 'A'] }))).toEqual(['A', 'B']);
    expect(tasksAbout(event('MainMoved', moved))).toEqual([]);
    expect(tasksAbout(event('LedgerSealed', { size: 1, root: '', checkpoint: '' }))).toEqual([]);
    expect(tasksAbout(event('AuditSessionStarted', { audit_id: 'a', task_id: null }))).toEqual([]);
  });

  it('are known for every type that names a task', () => {
    const naming = Object.entries(EVENTS)
      .filter(([, shape]) => namesTask(shape))
      .map(([type]) => type);
    const elsewhere = naming.filter((type) => !('task_id' in EVENTS[type as EventType])); // oxlint-disable-line typescript/no-unsafe-type-assertion
    expect(elsewhere.filter((type) => !BY_TABLE.has(type))).toEqual(NOT_ABOUT);
  });
});

/** These name their tasks in another field: see `ABOUT_TASKS`. */
const BY_TABLE: ReadonlySet<string> = new Set(['AgentRequested', 'PipelineStarted']);
/** A timer is about its run; these name the tasks of other sessions that could have moved the branch. */
const NOT_ABOUT = ['TimerSet', 'TimerFired', 'MainMoved'];

function namesTask(shape: unknown): boolean {
  if (typeof shape !== 'object' || shape === null) return false;
  return Object.entries(shape).some(([key, part]) => key === 'task_id' || namesTask(part));
}

describe('the number of an entry within its tasks', () => {
  it('follows the last one', () => {
    const state = emptyState();
    expect(numberEntry(state, created)).toEqual({ A: 1 });
    state.taskNumbers.set('A', 7);
    expect(numberEntry(state, created)).toEqual({ A: 8 });
  });

  it('is written once every host of the fleet reads it', () => {
    const state = emptyState();
    const fleet = { founder: 'h1', rootCommit: null, remote: null, caretaker: null };
    state.fleet.set('fleet', { ...fleet, level: 3 });
    expect(numberEntry(state, created)).toBeUndefined();
    state.fleet.set('fleet', { ...fleet, level: 4 });
    expect(numberEntry(state, created)).toEqual({ A: 1 });
  });

  it('is folded, and refused if it does not follow', () => {
    const state = emptyState();
    foldEntry(state, entry(1, created, { A: 1 }));
    expect(state.taskNumbers.get('A')).toBe(1);
    const next = event('WritebackWaived', { task_id: 'A', reason: 'r' });
    expect(() => foldEntry(state, entry(2, next, { A: 3 }))).toThrow('it is not entry 2 of the task A');
    expect(() => foldEntry(state, entry(2, next, { A: 1 }))).toThrow('it is not entry 2 of the task A');
    foldEntry(state, entry(2, next, { A: 2 }));
    expect(state.taskNumbers.get('A')).toBe(2);
  });

  it('counts for entries of types that this version does not know', () => {
    const state = emptyState();
    const later = { ...entry(1, created, { A: 1 }), type: 'TaskDreamt' };
    foldEntry(state, later);
    expect(numberEntry(state, created)).toEqual({ A: 2 });
  });
});

describe('count-task', () => {
  const count = { kind: 'count-task', command: { taskId: 'A' } } as const;

  it('records the number of entries once, until another one follows', () => {
    const { state } = given([created]);
    state.taskNumbers.set('A', 5);
    const decideCount = () => decide(state, count, operator, OPEN, undefined);
    const counted = event('TaskCounted', { task_id: 'A', last: 6 });
    expect(decideCount()).toMatchObject({ ok: true, events: [counted], answer: { last: 6 } });
    foldEntry(state, entry(2, counted, { A: 6 }));
    expect(decideCount()).toMatchObject({ ok: true, events: [], answer: { last: 6 } });
    state.taskNumbers.set('A', 7);
    expect(decideCount()).toMatchObject({ ok: true, events: [{ data: { last: 8 } }] });
  });

  it('is refused for a task that does not exist', () => {
    given([]).when(count, operator).thenRefused('no-such-task');
  });
});
