import { actorOf, checkClaim, splitActor, type Caller } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import { event } from '../event.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';

export interface StartAudit {
  readonly auditId: string;
  readonly taskId: string | null;
}

/** Starts an audit: the caller must write a record before it seals. A session audits only its own work. */
export function decideStartAudit(
  state: State,
  { auditId, taskId }: StartAudit,
  caller: Caller,
): Outcome<{ readonly auditId: string }> {
  if (state.openAudits.has(auditId))
    return refusal(
      'audit-exists',
      `audit session ${auditId} is open already`,
      'Continue that session, or choose another id.',
    );
  const task = taskId === null ? undefined : state.tasks.get(taskId);
  if (taskId !== null && task === undefined) return refuseUnknownTask(taskId);
  if (caller.kind === 'session') {
    const own = task ?? state.tasks.get(caller.taskId);
    const held = own === undefined ? refuseUnknownTask(caller.taskId) : checkClaim(own, caller);
    if (!held.ok) return held;
  }
  return decided([event('AuditSessionStarted', { audit_id: auditId, task_id: taskId })], { auditId });
}

export interface VerifyAudit {
  readonly auditId: string;
  readonly size: number;
  readonly root: string;
}

export function decideVerifyAudit(state: State, { auditId, size, root }: VerifyAudit, caller: Caller): Outcome<null> {
  const audit = state.openAudits.get(auditId);
  if (audit === undefined || audit.actor !== splitActor(actorOf(caller)).actor)
    return refusal('no-such-audit', `you have no open audit session ${auditId}`, 'Begin one: audit_session_start');
  return decided([event('AuditChainVerified', { audit_id: auditId, size, root })], null);
}

/** Decides a seal. A caller with an open audit must write its record first. Operators may always seal. */
export function decideSeal(state: State, caller: Caller): Outcome<null> {
  if (caller.kind === 'operator' || caller.kind === 'system') return decided([], null);
  const actor = actorOf(caller);
  const open = [...state.openAudits.values()].find((audit) => audit.actor === actor);
  if (open === undefined) return decided([], null);
  const hint = 'Call thought_record, then merkle_finalize again.';
  return refusal('audit-open', `audit session ${open.id} has no thought record yet`, hint);
}
