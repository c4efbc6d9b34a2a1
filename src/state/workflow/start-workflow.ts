import { adoptionInForce } from '../adoption.ts';
import type { Caller } from '../caller.ts';
import { decideCreateTask, type CreateTask } from '../create-task.ts';
import { event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { WorkflowMode } from './workflow-event.ts';

export interface StartWorkflow extends Omit<CreateTask, 'id' | 'phase' | 'nextRole'> {
  /** Left out: the next free one, W-00001 and so on. */
  readonly id?: string;
  readonly mode: WorkflowMode;
  /** Left out: the one in force. */
  readonly runbook?: string;
}

/** A task in DRAFT, which the roles of the workflow take from there. */
export function decideStartWorkflow(
  state: State,
  { mode, runbook, ...task }: StartWorkflow,
  caller: Caller,
): Outcome<{ readonly id: string; readonly n: number }> {
  const id = task.id ?? freeId(state);
  const created = decideCreateTask(state, { ...task, id, phase: 'DRAFT', nextRole: FIRST_ROLE }, caller);
  if (!created.ok) return created;
  const pinned = runbook ?? adoptionInForce(state)?.sha256;
  const started = event('WorkflowStarted', { task_id: id, mode, ...(pinned === undefined ? {} : { runbook: pinned }) });
  return decided([...created.events, started], { id, n: created.answer.n });
}

const FIRST_ROLE = 'issue-manager';

function freeId({ tasks }: State): string {
  for (let n = tasks.size + 1; ; n++) {
    const id = `W-${String(n).padStart(5, '0')}`;
    if (!tasks.has(id)) return id;
  }
}
