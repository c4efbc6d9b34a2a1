import { actorOf, type Caller } from './caller.ts';
import { noSuchTask } from './create-task.ts';
import { event } from './event.ts';
import { decided, refusal, type Outcome } from './outcome.ts';
import type { State } from './state.ts';

export interface StartAudit {
  readonly auditId: string;
  readonly taskId: string | null;
}

/** Proof-grade work begins: from here on a record is owed before anything is sealed. */
export function decideStartAudit(state: State, { auditId, taskId }: StartAudit): Outcome<{ readonly auditId: string }> {
  if (taskId !== null && !state.tasks.has(taskId)) return noSuchTask(taskId);
  return decided([event('AuditSessionStarted', { audit_id: auditId, task_id: taskId })], { auditId });
}

/** Whether this caller may seal: whoever audits writes the record first. Operators may always seal. */
export function decideSeal(state: State, caller: Caller): Outcome<null> {
  if (caller.kind === 'operator' || caller.kind === 'system') return decided([], null);
  const actor = actorOf(caller);
  const open = [...state.openAudits.values()].find((audit) => audit.actor === actor);
  if (open === undefined) return decided([], null);
  const hint = 'Call thought_record, then merkle_finalize again.';
  return refusal('audit-open', `audit session ${open.id} has no thought record yet`, hint);
}
