import { describe, expect, it } from 'vitest';
import { given } from '../../../state/given.cases.ts';
import { create, operate, operator } from '../../../state/say.cases.ts';
import type { State } from '../../../state/state.ts';
import { chainThrough, criticalPath, longestChains } from './critical-path.ts';

/** A project from lines like `B after A` and `C`, in this order. */
function project(lines: readonly string[], done: readonly string[] = [], cancelled: readonly string[] = []): State {
  const created = lines.map((line) => {
    const [id = '', after] = line.split(' after ');
    return [create(id, after === undefined ? {} : { after: after.split(' ') }), operator] as const;
  });
  const finished = done.map((id) => [operate('waive', 'done', id), operator] as const);
  const dropped = cancelled.map((id) => [operate('cancel', 'not now', id), operator] as const);
  return given([...created, ...finished, ...dropped]).state;
}

const path = (state: State) => criticalPath(state, longestChains(state)).join(' ');
const through = (state: State, id: string) => chainThrough(state, longestChains(state), id).join(' ');

describe('the critical path', () => {
  it('is the longest chain of unfinished tasks', () => {
    const state = project(['A', 'B after A', 'C after A', 'D after C', 'E after B D', 'F']);
    expect(path(state)).toBe('A C D E');
  });

  it('gets shorter with each task that is done', () => {
    const lines = ['A', 'B after A', 'C after B', 'X', 'Y after X', 'Z after Y'];
    expect(path(project(lines))).toBe('A B C');
    expect(path(project(lines, ['A']))).toBe('X Y Z');
    expect(path(project(lines, ['A', 'B', 'C', 'X', 'Y', 'Z']))).toBe('');
  });

  it('does not lead through a cancelled task', () => {
    expect(path(project(['A', 'B after A', 'C after B', 'X', 'Y after X'], [], ['B']))).toBe('X Y');
  });

  it('leads through a given task, on its longest way', () => {
    const state = project(['A', 'B after A', 'C after A', 'D after C', 'E after B D', 'F after B'], ['A']);
    expect(through(state, 'B')).toBe('B E');
    expect(through(state, 'E')).toBe('C D E');
    expect(through(state, 'F')).toBe('B F');
    expect(through(state, 'A')).toBe('');
    expect(through(state, 'nothing')).toBe('');
  });

  it('follows a chain of thousands', () => {
    const lines = Array.from({ length: 3000 }, (_, i) => (i === 0 ? 'T0' : `T${i} after T${i - 1}`));
    expect(criticalPath(project(lines), longestChains(project(lines)))).toHaveLength(3000);
  });

  it('ends on a cycle, which no ledger should have', () => {
    const state = project(['A', 'B after A', 'C']);
    const a = state.tasks.get('A');
    if (a !== undefined) state.tasks.set('A', { ...a, after: ['B'] });
    state.dependants.set('B', [['A']]);
    expect(path(state)).toBe('C');
    expect(through(state, 'A')).toBe('');
  });
});
