import { describe, expect, it } from 'vitest';
import type { Fields } from '../../protocol/shape/read-unknown.ts';
import { WorkflowsStory } from './workflows-story.ts';

const waiting = (id: string, ...waitsFor: string[]) => ({
  id,
  waitsFor: waitsFor.map((task_id) => ({ task_id, status: 'todo' })),
});
const moved = (task_id: string, to: string, cause = 'handoff') =>
  ['PhaseMoved', { task_id, from: 'DRAFT', to, next_role: null, cause, reason: 'so' }] as const;
const asked = (task_id: string, decision_id: string) =>
  ['DecisionOpened', { task_id, decision_id, title: 'May it go on?' }] as const;

type Workflows = ConstructorParameters<typeof WorkflowsStory>[0];

function progressOf(workflows: Workflows, entries: readonly (readonly [string, Fields])[]): unknown {
  const story = new WorkflowsStory(workflows);
  for (const [type, data] of entries) story.describe(type, data);
  return story.progress;
}

const RUNNING = { kind: 'running' };

describe('the story of several workflows', () => {
  it('names the task in each line, and which workflows wait for which', () => {
    const story = new WorkflowsStory([waiting('A'), waiting('B', 'A', 'C')]);
    expect(story.queued).toEqual(['B: queued behind A, C']);
    expect(story.describe(...moved('A', 'COMPLETED'))).toBe('A: COMPLETED: so');
    expect(story.describe(...moved('C', 'COMPLETED'))).toBeUndefined();
    expect(story.queued).toEqual([]);
  });

  it('is over when all are, and has failed if one was cancelled', () => {
    const two = [waiting('A'), waiting('B')];
    expect(progressOf(two, [moved('A', 'COMPLETED')])).toEqual(RUNNING);
    expect(progressOf(two, [moved('A', 'COMPLETED'), moved('B', 'COMPLETED')])).toEqual({
      kind: 'over',
      outcome: 'done',
    });
    expect(progressOf(two, [moved('A', 'COMPLETED'), moved('B', 'BLOCKED', 'cancelled')])).toEqual({
      kind: 'over',
      outcome: 'failed',
    });
  });

  it('waits for a person only if nothing else progresses', () => {
    const two = [waiting('A'), waiting('B')];
    const stopped = { kind: 'waiting', decisionId: 'd1' };
    expect(progressOf(two, [asked('A', 'd1')])).toEqual(RUNNING);
    expect(progressOf(two, [asked('A', 'd1'), moved('B', 'COMPLETED')])).toEqual(stopped);
    expect(progressOf(two, [asked('A', 'd1'), asked('B', 'd2')])).toEqual(stopped);
    const answered = ['DecisionResolved', { decision_id: 'd1', option: 1 }] as const;
    expect(progressOf(two, [asked('A', 'd1'), moved('B', 'COMPLETED'), answered])).toEqual(RUNNING);
  });

  it('does not progress behind one that waits, but progresses behind another task that may continue', () => {
    expect(progressOf([waiting('A'), waiting('B', 'A'), waiting('C', 'B')], [asked('A', 'd1')])).toEqual({
      kind: 'waiting',
      decisionId: 'd1',
    });
    expect(progressOf([waiting('A'), waiting('B', 'X')], [asked('A', 'd1')])).toEqual(RUNNING);
  });

  it('is stuck behind a task that is cancelled or blocked', () => {
    const cancelled = moved('A', 'BLOCKED', 'cancelled');
    expect(progressOf([waiting('A'), waiting('B', 'A')], [cancelled])).toEqual({ kind: 'stuck' });
    const outside = [{ id: 'B', waitsFor: [{ task_id: 'X', status: 'blocked' }] }];
    expect(progressOf(outside, [])).toEqual({ kind: 'stuck' });
    expect(progressOf(outside, [moved('X', 'IMPLEMENTATION', 'unblocked')])).toEqual(RUNNING);
  });
});
