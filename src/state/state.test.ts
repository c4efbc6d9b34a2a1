import { describe, expect, it } from 'vitest';
import type { Event, RecordedEvent } from './event.ts';
import { given } from './given.cases.ts';
import { claim, create, operator, result, session, worker } from './say.cases.ts';
import { emptyState, evolve } from './state.ts';
import { TrackedMap } from './tracked-map.ts';

const entry = (event: object, seq = 9): RecordedEvent =>
  ({ seq, at: '2026-01-01T00:00:00.000Z', actor: 'system:x', ...event }) as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion

describe('the fold', () => {
  it('accepts entries of other rooms', () => {
    const { state } = given([[create(), operator]]);
    const before = structuredClone(state);
    evolve(state, entry({ type: 'WorktreeMade', data: { task_id: 'A', path: 'x' } }));
    evolve(state, entry({ type: 'KeyAdded', data: {} }, 10));
    expect(state).toEqual({ ...before, seq: 10 });
  });

  it('accepts entries about unknown tasks', () => {
    const lost = {
      type: 'ClaimExpired',
      data: { task_id: 'X', epoch: 1, session_id: 's', reason: null },
    } satisfies Event;
    expect(evolve(emptyState(), entry(lost, 1))).toEqual({ ...emptyState(), seq: 1 });
  });

  it('remembers the answers of keyed commands', () => {
    const { state } = given([[create(), operator]]);
    evolve(
      state,
      entry({ type: 'DependencyAdded', data: { task_id: 'A', after: 'B' }, settles: { key: 'k', answer: 1 } }),
    );
    expect(state.settled).toEqual(new Map([['k', 1]]));
  });

  it('drops the result of a claim by hand when the claim ends', () => {
    const { state } = given([
      [create(), operator],
      [claim(), worker],
      [result(), session()],
    ]);
    expect(state.sessions.get('s1')?.result).toBeDefined();
    const released = { task_id: 'A', epoch: 1, session_id: 's1', reason: null };
    evolve(state, entry({ type: 'ClaimReleased', data: released }));
    expect(state.sessions.get('s1')).toMatchObject({ taskId: 'A' });
    expect(state.sessions.get('s1')).not.toHaveProperty('result');
  });

  it('can be rolled back, with maps that support it', () => {
    const maps: TrackedMap<string, unknown>[] = [];
    const state = emptyState(<V>() => {
      const map = new TrackedMap<string, V>();
      maps.push(map);
      return map;
    });
    const look = (): unknown => structuredClone(maps.map((map) => [...map]));
    const { tasks } = given([
      [create(), operator],
      [create('B'), operator],
    ]).state;
    for (const task of tasks.values()) state.tasks.set(task.id, task);
    const before = look();
    for (const map of maps) map.begin();
    evolve(
      state,
      entry({ type: 'DependencyAdded', data: { task_id: 'A', after: 'B' }, settles: { key: 'k', answer: 1 } }),
    );
    evolve(state, entry({ type: 'AuditSessionStarted', data: { audit_id: 'a', task_id: null } }, 10));
    expect(look()).not.toEqual(before);
    for (const map of maps) map.revert();
    expect(look()).toEqual(before);
  });
});
