import { describe, expect, it } from 'vitest';
import type { TaskWork } from '../../state/fleet/work-place.ts';
import { isNewPosition, isPushDue } from './live-work.ts';

const [A, B, WIP] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];

function work(more: Partial<TaskWork> = {}): TaskWork {
  return { host: 'alpha', epoch: 2, pushed: null, failed: null, ...more };
}
const at = (epoch: number, sha: string, wip: string | null = null) => ({ epoch, host: 'alpha', sha, wip });

describe('what is pushed during a session', () => {
  it.each([
    ['nothing while it is where it began', null, A, null, false],
    ['the first commit', null, B, null, true],
    ['uncommitted work', null, A, WIP, true],
    ['nothing that the session before has pushed', work({ epoch: 1, pushed: at(1, B, WIP) }), B, WIP, false],
    ['that uncommitted work is gone', work({ pushed: at(2, B, WIP) }), B, null, true],
    ['nothing twice', work({ pushed: at(2, B, WIP) }), B, WIP, false],
    ['the same again after a failure', work({ pushed: at(2, B), failed: 'no route' }), B, null, true],
  ] as const)('%s', (_, known, sha, wip, isNew) => {
    expect(isNewPosition({ epoch: 2, base: A, work: known }, { sha, wip }, false)).toBe(isNew);
  });
});

describe('what is pushed at the end of a session', () => {
  it('is its position even if nothing has changed, because other hosts wait for it', () => {
    expect(isNewPosition({ epoch: 2, base: A, work: work() }, { sha: A, wip: null }, true)).toBe(true);
    const before = work({ epoch: 1, pushed: at(1, A) });
    expect(isNewPosition({ epoch: 2, base: A, work: before }, { sha: A, wip: null }, true)).toBe(true);
  });

  it('is nothing if the remote already has it', () => {
    expect(isNewPosition({ epoch: 2, base: A, work: work({ pushed: at(2, B) }) }, { sha: B, wip: null }, true)).toBe(
      false,
    );
  });
});

describe('a push is due', () => {
  it.each([
    ['five minutes after the last look', { lookedMs: 0, pushedMs: 0 }, false, 300_000, true],
    ['not before that without a new commit', { lookedMs: 0, pushedMs: 0 }, false, 299_999, false],
    ['30 s after the last push for a new commit', { lookedMs: 0, pushedMs: 0 }, true, 30_000, true],
    ['not sooner', { lookedMs: 0, pushedMs: 0 }, true, 29_999, false],
    ['at once for the first commit', { lookedMs: 0, pushedMs: Number.NEGATIVE_INFINITY }, true, 1, true],
  ] as const)('%s', (_, times, isMoved, nowMs, isDue) => {
    expect(isPushDue(times, isMoved, nowMs)).toBe(isDue);
  });
});
