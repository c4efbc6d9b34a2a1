import type { ClaimView, TaskDetails, TaskView } from '../../api/operations/tasks.ts';
import { isClaimable } from '../../state/tasks/claim-task.ts';
import { rulesInForce } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { taskStatus, type Task } from '../../state/tasks/task.ts';
import type { Project } from '../project/project.ts';

export function taskView(project: Project, state: State, task: Task, clocks: ViewClocks): TaskView {
  return {
    id: task.id,
    n: task.n,
    title: task.title,
    status: taskStatus(task),
    phase: task.phase,
    claimable: isClaimable(state, task, rulesInForce(state, project.rules)),
    next_role: task.nextRole,
    after: task.after,
    priority: task.priority,
    progress: task.progress,
    notes: task.notes,
    blocked_because: task.blocked?.reason ?? null,
    claim: claimView(project, task, clocks),
    protected_paths: task.flow.protected?.paths ?? [],
  };
}

export function waitsView(
  { tasks, decisions }: State,
  { id, after }: Task,
): Pick<TaskDetails, 'waits_for' | 'decision_ids'> {
  const before = after.flatMap((each) => tasks.get(each) ?? []).filter(({ phase }) => phase !== 'COMPLETED');
  const open = [...decisions.values()].filter(({ taskId, result }) => taskId === id && result === null);
  return {
    waits_for: before.map((task) => ({
      task_id: task.id,
      status: taskStatus(task),
      blocked_because: task.blocked?.reason ?? null,
    })),
    decision_ids: open.map((decision) => decision.id),
  };
}

export interface ViewClocks {
  readonly now: () => Date;
  readonly monotonicMs: () => number;
}

function claimView(project: Project, { id, claim }: Task, clocks: ViewClocks): ClaimView | null {
  if (claim === null) return null;
  const { epoch, holder, principal, role, sessionId, at } = claim;
  return {
    epoch,
    holder,
    principal,
    role,
    session_id: sessionId,
    since: at,
    expires_at: expiresAt(project, id, clocks),
  };
}

/** Leases use a monotonic clock; callers get the time of day. */
export function expiresAt(project: Project, taskId: string, { now, monotonicMs }: ViewClocks): string {
  const remainingMs = project.leases.remaining(taskId, monotonicMs()) ?? 0;
  return new Date(now().getTime() + remainingMs).toISOString();
}
