import type { TaskDetails, TaskView } from '../../api/operations/tasks.ts';
import { printable, shortId } from '../text.ts';

/** Escapes a text of a task, because none is trusted. */
export function toText(value: string | null | undefined): string {
  return printable((value ?? '').replace(/\s+/g, ' '));
}

export function describeAfter({ after, waits_for }: TaskDetails): string {
  const open = new Map(waits_for.map((each) => [each.task_id, describeStatus(each)]));
  return after.map((id) => (open.has(id) ? `${toText(id)} (${open.get(id)})` : toText(id))).join(', ');
}

function describeStatus(task: Pick<TaskView, 'status' | 'blocked_because'>): string {
  return task.blocked_because === null ? task.status : `${task.status}: ${describeBlock(task)}`;
}

/** The status already shows that a task is cancelled. */
export function describeBlock({
  status,
  blocked_because: because,
}: Pick<TaskView, 'status' | 'blocked_because'>): string {
  return status === 'cancelled' ? toText(because).replace(/^cancelled: /, '') : toText(because);
}

export function decisionCommands({ decision_ids: ids }: Pick<TaskDetails, 'decision_ids'>): readonly string[] {
  return ids.map((id) => `baton decision show ${shortId(toText(id))}`);
}

/** Undefined if the task can be claimed. */
export function whyNobodyClaims(task: TaskDetails): string | undefined {
  const { claimable, claim, status, phase, waits_for } = task;
  if (claimable) return undefined;
  const id = toText(task.id);
  if (claim) return `${id} is claimed by ${toText(claim.holder)}.`;
  if (status === 'cancelled')
    return `${id} is ${toText(task.blocked_because)}. Reinstate the task: baton task reinstate ${id} --reason "…"`;
  if (status === 'blocked')
    return `${id} is blocked (${toText(task.blocked_because)}). Unblock the task: baton task unblock ${id} --reason "…"`;
  const [decision] = decisionCommands(task);
  if (decision !== undefined) return `a person is asked about ${id}: ${decision}`;
  const open = waits_for.map((each) => `${toText(each.task_id)} (${describeStatus(each)})`);
  return open.length === 0 ? `${id} is in ${phase}.` : `${id} comes after ${open.join(', ')}.`;
}
