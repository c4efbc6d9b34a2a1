import { actorOf, type Caller } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import { evolveTask } from './evolve-task.ts';
import { decided, refusal } from '../outcome.ts';
import { decideRecordThought, type RecordThought } from './record-session.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { findClaim, finishAsCaller, isMeasured, ONLY_BY_EXIT, type UpdateOutcome } from './update-task.ts';

/** The record and the completion in one call, and in one transaction: both, or neither. */
export function decideCompleteTask(state: State, command: RecordThought, caller: Caller, rules: Rules): UpdateOutcome {
  const task = state.tasks.get(command.record.task_id);
  if (task === undefined) return refuseUnknownTask(command.record.task_id);
  if (command.record.status === 'todo') {
    const message = 'a record with status todo reinstates the task; it cannot complete it';
    return refusal('reinstates', message, 'Leave the status out.');
  }
  if (isMeasured(state, caller)) return ONLY_BY_EXIT;
  const held = findClaim(task, caller);
  if (!held.ok) return held;
  const recorded = decideRecordThought(state, command, caller);
  if (!recorded.ok) return recorded;
  const withRecord = recorded.events.reduce((before, each, i) => {
    return evolveTask(before, { ...each, seq: state.seq + 1 + i, at: '', actor: actorOf(caller) });
  }, task);
  const finished = finishAsCaller(state, withRecord, held.answer, caller, rules, []);
  return finished.ok ? decided([...recorded.events, ...finished.events], finished.answer) : finished;
}
