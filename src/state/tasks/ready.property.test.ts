import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../../test/lanes.ts';
import type { RecordedEvent } from '../event.ts';
import { OPEN } from '../given.cases.ts';
import { dependantsOf } from '../dependants.ts';
import { emptyState, evolve, type State } from '../state.ts';
import { TrackedMap } from '../tracked-map.ts';
import { isClaimable, isClosable } from './claim-task.ts';
import { type ReadyTasks, trackReadyTasks } from './ready.ts';
import type { Task } from './task.ts';

const ids = (tasks: readonly Task[]): string[] => tasks.map(({ id }) => id);

describe('updated entry by entry, it equals a new computation', () => {
  const N = 12;
  const task = fc.nat(N - 1);
  const role = fc.constantFrom(null, 'fixer', 'reviewer');
  const entry = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('create' as const),
        after: fc.array(task, { maxLength: 3 }),
        priority: fc.nat(2),
        role,
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('depend' as const), a: task, b: task }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('move' as const),
        a: task,
        to: fc.constantFrom('COMPLETED', 'BLOCKED', 'IMPLEMENTATION', 'CI_PENDING'),
        role,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('claim' as const), a: task }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), a: task }) },
  );
  type Change = typeof entry extends fc.Arbitrary<infer T> ? T : never;

  /** The entry of this change, if the change is possible in this state. */
  function entryOf(state: State, change: Change): RecordedEvent | undefined {
    const envelope = { seq: state.seq + 1, at: '', actor: 'operator:x' };
    if (change.kind === 'create') {
      const n = state.tasks.size + 1;
      const after = [...new Set(change.after)].filter((i) => i < state.tasks.size).map((i) => `t${i}`);
      const more = {
        phase: 'IMPLEMENTATION',
        next_role: change.role,
        prompt_file: null,
        epic_id: null,
        prd_id: null,
      } as const;
      const data = { task_id: `t${n - 1}`, n, title: 'x', after, priority: change.priority, ...more };
      return n > N ? undefined : { ...envelope, type: 'TaskCreated', data };
    }
    const found = state.tasks.get(`t${change.a}`);
    if (found === undefined) return undefined;
    const task_id = found.id;
    if (change.kind === 'depend') {
      const after = `t${change.b}`;
      if (!state.tasks.has(after) || found.after.includes(after) || reaches(state, after, task_id)) return undefined;
      return { ...envelope, type: 'DependencyAdded', data: { task_id, after } };
    }
    if (change.kind === 'move') {
      const why = { cause: 'updated', reason: '' } as const;
      const data = { task_id, from: found.phase, to: change.to, next_role: change.role, ...why };
      return { ...envelope, type: 'PhaseMoved', data };
    }
    const claim = { task_id, epoch: 1, session_id: 's' };
    if (change.kind === 'claim')
      return {
        ...envelope,
        type: 'TaskClaimed',
        data: { ...claim, holder: '', principal: '', role: null, requires: [] },
      };
    return { ...envelope, type: 'ClaimReleased', data: { ...claim, reason: null } };
  }

  function reaches(state: State, from: string, to: string): boolean {
    return from === to || (state.tasks.get(from)?.after ?? []).some((id) => reaches(state, id, to));
  }

  function naive(state: State, forRole?: string): string[] {
    const chain = (id: string): number => {
      if (state.tasks.get(id)?.phase === 'COMPLETED') return 0;
      return 1 + Math.max(0, ...[...dependantsOf(state, id)].map(chain));
    };
    return [...state.tasks.values()]
      .filter((task) => isClaimable(state, task, OPEN) || (forRole !== undefined && isClosable(task)))
      .filter(({ nextRole }) => forRole === undefined || nextRole === null || nextRole === forRole)
      .sort((a, b) => chain(b.id) - chain(a.id) || b.priority - a.priority || a.n - b.n)
      .map(({ id }) => id);
  }

  it('after every entry', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 60, size: 'max' }), (changes) => {
        const state = emptyState();
        const ready = trackReadyTasks(state, OPEN);
        for (const change of changes) {
          const recorded = entryOf(state, change);
          if (recorded === undefined) continue;
          evolve(state, recorded);
          ready.note(state, recorded);
          expect(ids(ready.first(state, 100))).toEqual(naive(state));
          const closable = [...state.tasks.values()].filter(isClosable);
          expect(new Set(ids(ready.closing(state, 100)))).toEqual(new Set(ids(closable)));
          for (const each of ['fixer', 'reviewer', 'nobody'])
            expect(ids(ready.first(state, 3, each))).toEqual(naive(state, each).slice(0, 3));
        }
      }),
      { numRuns: samples(300) },
    );
  });

  it('after many entries at once, from any state, and after a rollback', () => {
    const batches = fc.array(
      fc.record({ changes: fc.array(entry, { maxLength: 20, size: 'max' }), isKept: fc.boolean() }),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(batches, fc.nat(3), (all, start) => {
        const maps: TrackedMap<string, unknown>[] = [];
        const state = emptyState(<V>() => {
          const map = new TrackedMap<string, V>();
          maps.push(map);
          return map;
        });
        let ready: ReadyTasks | undefined;
        for (const [i, { changes, isKept }] of all.entries()) {
          if (i >= start) ready ??= trackReadyTasks(state, OPEN);
          for (const map of maps) map.begin();
          const { seq } = state;
          const entries = changes.flatMap((change) => {
            const recorded = entryOf(state, change);
            if (recorded === undefined) return [];
            evolve(state, recorded);
            ready?.note(state, recorded);
            return [recorded];
          });
          if (i % 2 === 0) ready?.first(state, 3);
          if (!isKept) {
            for (const map of maps) map.revert();
            state.seq = seq;
            for (const recorded of entries) ready?.note(state, recorded);
          }
          const kept = ready === undefined ? naive(state) : ids(ready.first(state, 100));
          expect(kept).toEqual(naive(state));
          const fixers = ready === undefined ? naive(state, 'fixer') : ids(ready.first(state, 100, 'fixer'));
          expect(fixers).toEqual(naive(state, 'fixer'));
        }
      }),
      { numRuns: samples(300) },
    );
  });
});
