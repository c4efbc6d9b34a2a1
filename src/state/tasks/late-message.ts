import { type Caller, checkClaim } from '../caller.ts';
import { event, type Event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import { phaseMovedEvent } from './claim-task.ts';
import { refuseUnknownTask } from './create-task.ts';
import { evolveTask } from './evolve-task.ts';
import type { LapsedClaim, Task } from './task.ts';

type SessionCaller = Caller & { readonly kind: 'session' };

/**
 * Decides a message that the outbox kept while its claim lived. The message is judged by its epoch, not by the time of
 * delivery: it counts even if the claim has lapsed, unless something else has happened to the task since. A message
 * that ends the claim restores it first; any other message is added to the lapsed claim. Undefined for other messages.
 */
export function decideOutboxMessage<A>(
  state: State,
  caller: SessionCaller,
  decide: (state: State) => Outcome<A>,
): Outcome<A> | undefined {
  const task = state.tasks.get(caller.taskId);
  const lapsed = task === undefined ? undefined : findLapsedClaim(state, task, caller);
  if (task === undefined || lapsed === undefined) return undefined;
  const events = restoreClaim(task, lapsed);
  const then = fold(task, events);
  const outcome = decide({ ...state, tasks: new Map(state.tasks).set(task.id, then) });
  if (!outcome.ok) return outcome;
  const isOver = fold(then, outcome.events).claim === null;
  return isOver ? decided([...events, ...outcome.events], outcome.answer) : outcome;
}

function findLapsedClaim(
  state: State,
  task: Task,
  { sessionId, epoch, keptAt }: SessionCaller,
): LapsedClaim | undefined {
  const { lapsed } = task;
  if (lapsed === null || keptAt === undefined) return undefined;
  if (task.epoch !== epoch || lapsed.claim.sessionId !== sessionId || !isBefore(keptAt, lapsed.at)) return undefined;
  return isAnswered(state, task, lapsed) ? undefined : lapsed;
}

function isBefore(keptAt: string, at: string): boolean {
  return Date.parse(keptAt) <= Date.parse(at);
}

/** Reports whether a person has answered a decision about the task since the claim lapsed. */
function isAnswered({ decisions }: State, { id }: Task, { at }: LapsedClaim): boolean {
  for (const { taskId, result } of decisions.values())
    if (taskId === id && result?.kind === 'resolved' && isBefore(at, result.at)) return true;
  return false;
}

function restoreClaim(task: Task, { claim, phase, nextRole }: LapsedClaim): readonly Event[] {
  const { epoch, sessionId: session_id } = claim;
  const restored = event('ClaimRestored', { task_id: task.id, epoch, session_id });
  if (task.phase === phase) return [restored];
  const why = { cause: 'claim-restored', reason: 'a message that was kept while the claim lived' } as const;
  return [restored, phaseMovedEvent(task, phase, why, nextRole)];
}

function fold(task: Task, events: readonly Event[]): Task {
  return events
    .filter(({ data }) => !('task_id' in data) || data.task_id === task.id)
    .reduce((before, each) => evolveTask(before, { ...each, seq: task.flow.movedAt, at: '' }), task);
}

/**
 * Commands that an ended session may still send. A repeated exit signal gets the first answer. A signal and a report
 * are about the session's own process, which may outlive the claim. A seal signs the record and moves no task: an audit
 * ends with it, after the task is completed.
 */
const ALLOWED_AFTER_END: ReadonlySet<string> = new Set(['exit-session', 'signal-agent', 'report-agent', 'seal']);

/** Checks every command of a session: the token of an ended session changes nothing. */
export function checkSessionIsLive(state: State, kind: string, caller: SessionCaller): Outcome<null> {
  return ALLOWED_AFTER_END.has(kind) ? decided([], null) : checkOwnClaim(state, caller);
}

export function checkOwnClaim(state: Pick<State, 'tasks'>, caller: SessionCaller): Outcome<null> {
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  return held.ok ? decided([], null) : held;
}
