import { expect, it } from 'vitest';
import type { RecordedEvent } from '../event.ts';
import { evolve } from '../state.ts';
import { given } from '../given.cases.ts';
import { claim, create, operator, worker } from '../say.cases.ts';
import { isClaimed, TaskIndex } from './task-index.ts';

const ids = (index: TaskIndex): string[] => [...index].map(({ id }) => id);

it('has the tasks of the state, and follows entries', () => {
  const { state } = given([
    [create('A'), operator],
    [create('B'), operator],
    [claim('A'), worker],
  ]);
  const index = new TaskIndex(state, isClaimed);
  expect(ids(index)).toEqual(['A']);
  const record = (recorded: Pick<RecordedEvent, 'type' | 'data'>): void => {
    const entry = {
      ...recorded,
      seq: state.seq + 1,
      at: '2026-01-01T00:00:00.000Z',
      actor: 'operator',
    } as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
    evolve(state, entry);
    index.follow([entry]);
  };
  const { sessionId: session_id = '', epoch = 0 } = state.tasks.get('A')?.claim ?? {};
  record({ type: 'ClaimReleased', data: { task_id: 'A', epoch, session_id, reason: null } });
  expect(ids(index)).toEqual([]);
  const taken = { holder: 'w', principal: 'worker:w', role: null, requires: [] };
  record({ type: 'TaskClaimed', data: { task_id: 'B', epoch: 1, session_id: 's2', ...taken } });
  expect(ids(index)).toEqual(['B']);
});

it('leaves out a task that no longer fits, before its entry arrives', () => {
  const { state } = given([
    [create('A'), operator],
    [claim('A'), worker],
  ]);
  const index = new TaskIndex(state, isClaimed);
  const task = state.tasks.get('A');
  if (task !== undefined) state.tasks.set('A', { ...task, claim: null });
  expect(ids(index)).toEqual([]);
});
