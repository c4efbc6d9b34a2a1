import { describe, expect, it } from 'vitest';
import { emptyTask, SHA } from '../state/say.cases.ts';
import { emptyState } from '../state/state.ts';
import type { Claim, Task } from '../state/tasks/task.ts';
import { trackReadyTasks } from '../state/tasks/ready.ts';
import { retryAfterDelay } from './blocked.ts';
import type { EngineContext } from './context.ts';
import { onMeasured } from './merge.ts';

const OTHER = 'f'.repeat(40);

function world(): EngineContext {
  const state = emptyState();
  const rules = { ciGate: true, mergeGate: true };
  return {
    state,
    rules,
    ready: trackReadyTasks(state, rules),
    newId: () => 'x',
    at: '2026-01-01T00:00:00.000Z',
    here: undefined,
  };
}

const BLOCKED: Task = {
  ...emptyTask,
  id: 'A',
  phase: 'BLOCKED',
  nextRole: 'implementer',
  blocked: { from: 'IMPLEMENTATION', reason: 'no answer' },
  epoch: 2,
};

const CLAIM: Claim = {
  epoch: 2,
  holder: 'reviewer',
  principal: 'agent:reviewer',
  role: 'reviewer',
  requires: [],
  sessionId: 's2',
  at: '2026-01-01T00:00:00.000Z',
  from: 'READY_FOR_REVIEW',
  process: null,
  host: null,
  resultStatus: null,
  handoff: null,
};

/** A review at whose end the branch has a commit that no check has seen. */
function reviewed(claim: Claim | null): Task {
  return {
    ...emptyTask,
    id: 'A',
    phase: 'REVIEW',
    nextRole: 'reviewer',
    claim,
    flow: { ...emptyTask.flow, judged: SHA, head: OTHER },
  };
}

describe('the timer of a recoverable error', () => {
  it('returns the task to work if no session has had it since', () => {
    expect(retryAfterDelay(world(), BLOCKED, 2)).toMatchObject([
      { type: 'PhaseMoved', data: { to: 'IMPLEMENTATION', cause: 'retried' } },
    ]);
  });

  it('does nothing if another session was blocked since, because that block has its own reason', () => {
    expect(retryAfterDelay(world(), BLOCKED, 1)).toEqual([]);
  });

  it.each([
    ['works again', { ...BLOCKED, phase: 'IMPLEMENTATION', blocked: null } as const],
    ['is gone', undefined],
  ])('does nothing if the task %s', (_what, task) => {
    expect(retryAfterDelay(world(), task, 2)).toEqual([]);
  });
});

describe('a measurement of a judging session that committed', () => {
  it('sends the work back to the checks when the session has ended', () => {
    expect(onMeasured(world(), reviewed(null))).toMatchObject([{ type: 'PhaseMoved', data: { to: 'CI_PENDING' } }]);
  });

  it('does nothing while a session holds the task, because its exit is judged by itself', () => {
    expect(onMeasured(world(), reviewed(CLAIM))).toEqual([]);
  });
});
