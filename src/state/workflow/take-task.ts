import { refuseUnknownTask } from '../tasks/create-task.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { Phase } from '../../protocol/phase.ts';
import type { State } from '../state.ts';
import type { Task } from '../tasks/task.ts';
import { refuseBlocked, refuseCompleted } from '../tasks/update-task.ts';

/** An existing task can become a workflow before its work is checked or judged, and while nobody holds it. */
export function findTaskForWorkflow(state: State, id: string): Outcome<Task> {
  const task = state.tasks.get(id);
  if (task === undefined) return refuseUnknownTask(id);
  const see = `See it: baton task show ${id}`;
  if (task.flow.mode !== null) return refusal('workflow-started', `task ${id} is a workflow already`, see);
  if (task.claim !== null) {
    const hint = `Wait for the end of that claim, or end it: baton task release ${id}`;
    return refusal('already-claimed', `task ${id} is claimed by ${task.claim.holder}`, hint);
  }
  if (task.phase === 'COMPLETED') return refuseCompleted(task);
  if (task.phase === 'BLOCKED') return refuseBlocked(task);
  if (!BEFORE_CHECKS.has(task.phase)) {
    const hint = `A workflow begins in DRAFT or IMPLEMENTATION. To begin the work again: baton task reinstate ${id} --reason "…"`;
    return refusal('not-workable', `task ${id} is ${task.phase}`, hint);
  }
  return decided([], task);
}

const BEFORE_CHECKS: ReadonlySet<Phase> = new Set(['DRAFT', 'IMPLEMENTATION']);
