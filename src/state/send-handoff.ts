import type { Phase } from '../protocol/phase.ts';
import type { Caller } from './caller.ts';
import { requireClaim } from './caller.ts';
import { endClaim, moveTo } from './claim-task.ts';
import { noSuchTask } from './create-task.ts';
import type { Event } from './event.ts';
import { event } from './event.ts';
import { decided, refusal, type Outcome } from './outcome.ts';
import type { State } from './state.ts';
import type { HeldHandoff, Task } from './task.ts';

/** A handoff that was parsed, and whose edge was found. */
export interface SendHandoff {
  readonly handoffId: string;
  readonly taskId: string;
  readonly from: string;
  readonly to: string | null;
  /** The role that `from` is the name of. */
  readonly senderRole: string | null;
  readonly phase: Phase | null;
  readonly nextRole: string | null;
  readonly xml: string;
}

/** Under a claim a handoff waits for the session's end; an operator's takes effect at once. */
export function decideSendHandoff(
  state: State,
  command: SendHandoff,
  caller: Caller,
): Outcome<{ readonly held: boolean }> {
  const task = state.tasks.get(command.taskId);
  if (task === undefined) return noSuchTask(command.taskId);
  const handoff: HeldHandoff = {
    handoff_id: command.handoffId,
    task_id: task.id,
    from: command.from,
    to: command.to,
    phase: command.phase,
    next_role: command.nextRole,
    xml: command.xml,
  };
  if (caller.kind === 'operator') return deliver(task, handoff);
  if (caller.kind !== 'session')
    return refusal('no-claim', 'only the holder of a claim hands work on', 'Claim the task first.');
  const held = requireClaim(task, caller);
  if (!held.ok) return held;
  if (held.claim.role === null || held.claim.role !== command.senderRole) {
    const message = `this session plays ${held.claim.role ?? 'no role'}, and cannot send as ${command.from}`;
    return refusal('wrong-sender', message, 'Claim the task with the role that you play: --role');
  }
  return decided([event('HandoffHeld', handoff)], { held: true });
}

function deliver(task: Task, handoff: HeldHandoff): Outcome<{ readonly held: boolean }> {
  if (task.nextRole !== null && handoff.phase !== null && task.phase === 'COMPLETED' && handoff.phase !== 'COMPLETED') {
    return refusal('out-of-turn', `task ${task.id} is completed`, 'Reinstate it first.');
  }
  const ended = task.claim === null ? [] : endClaim(task, task.claim, 'completed', 'handed on by an operator');
  const moved: Event[] =
    handoff.phase === null ? [] : [moveTo(task, handoff.phase, `handoff from ${handoff.from}`, handoff.next_role)];
  return decided([event('HandoffDelivered', handoff), ...ended, ...moved], { held: false });
}
