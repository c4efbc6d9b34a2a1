import type { Caller } from './caller.ts';
import type { EventType, RecordedEvent } from './event.ts';
import { findTaskId } from './packet/statements-of.ts';
import type { State } from './state.ts';

/**
 * Reports whether a caller may read a task's decisions: operators may, and sessions and agents may for their own task.
 */
export function mayReadDecisions(state: State, caller: Caller, taskId: string | null | undefined): boolean {
  if (caller.kind === 'operator') return true;
  const own = caller.kind === 'agent' ? state.agents.get(caller.agentId)?.task?.task_id : taskOf(caller);
  return own !== undefined && own === taskId;
}

function taskOf(caller: Caller): string | undefined {
  return caller.kind === 'session' ? caller.taskId : undefined;
}

/** Reports whether a caller may read an entry. Every caller may read every entry, except decisions. */
export function mayReadEntry(state: State, caller: Caller, recorded: RecordedEvent): boolean {
  return !FOR_PEOPLE.has(recorded.type) || mayReadDecisions(state, caller, findTaskId(state, recorded));
}

const FOR_PEOPLE: ReadonlySet<EventType> = new Set<EventType>([
  'DecisionOpened',
  'DecisionExtended',
  'DecisionAnswered',
  'DecisionAnswerWithdrawn',
  'DecisionResolved',
  'DecisionWithdrawn',
  'NotificationRequested',
]);
