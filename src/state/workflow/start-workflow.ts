import type { Phase } from '../../protocol/phase.ts';
import type { Caller } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import { findAdoption } from '../rules.ts';
import type { State } from '../state.ts';
import { phaseMovedEvent } from '../tasks/claim-task.ts';
import { type CreateTask, decideCreateTask, refuseUnknownTask } from '../tasks/create-task.ts';
import type { Task } from '../tasks/task.ts';
import { refuseBlocked, refuseCompleted } from '../tasks/update-task.ts';
import type { WorkflowMode } from './workflow-event.ts';

/** A new task, or with `task` an existing one. */
export type StartWorkflow = NewWorkflow | TakenWorkflow;

interface TakenWorkflow {
  readonly task: string;
  readonly mode: WorkflowMode;
  /** Missing: the one in force. */
  readonly runbook?: string;
}

interface NewWorkflow extends Omit<CreateTask, 'id' | 'phase' | 'nextRole'> {
  /** Missing: the next free one, as in W-00001. */
  readonly id?: string;
  readonly mode: WorkflowMode;
  /** Missing: the one in force. */
  readonly runbook?: string;
}

type Started = Outcome<{ readonly id: string; readonly n: number }>;

export function decideStartWorkflow(state: State, command: StartWorkflow, caller: Caller): Started {
  return 'task' in command ? takeTask(state, command) : createWorkflow(state, command, caller);
}

/** All roles, whatever was done before: the issue builds on what earlier sessions left, and their commits stay on the branch. */
function takeTask(state: State, { task: id, mode, runbook }: TakenWorkflow): Started {
  const takable = findTaskForWorkflow(state, id);
  if (!takable.ok) return takable;
  const task = takable.answer;
  const why = { cause: 'workflow-started', reason: 'it became a workflow' } as const;
  return decided([started(state, id, mode, runbook), phaseMovedEvent(task, 'DRAFT', why, FIRST_ROLE)], {
    id,
    n: task.n,
  });
}

function createWorkflow(state: State, { mode, runbook, ...task }: NewWorkflow, caller: Caller): Started {
  const id = task.id ?? freeId(state);
  const created = decideCreateTask(state, { ...task, id, phase: 'DRAFT', nextRole: FIRST_ROLE }, caller);
  if (!created.ok) return created;
  return decided([...created.events, started(state, id, mode, runbook)], { id, n: created.answer.n });
}

function started(state: State, id: string, mode: WorkflowMode, runbook = findAdoption(state)?.sha256): Event {
  return event('WorkflowStarted', { task_id: id, mode, ...(runbook === undefined ? {} : { runbook }) });
}

const FIRST_ROLE = 'issue-manager';

function freeId({ tasks }: State): string {
  for (let n = tasks.size + 1; ; n++) {
    const id = `W-${String(n).padStart(5, '0')}`;
    if (!tasks.has(id)) return id;
  }
}

/** An existing task can become a workflow while it is unclaimed, and before its work is checked or judged. */
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
