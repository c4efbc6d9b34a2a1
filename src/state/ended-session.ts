import { requireClaim, type Caller } from './caller.ts';
import { noSuchTask } from './create-task.ts';
import { decided, type Outcome } from './outcome.ts';
import type { State } from './state.ts';

/**
 * What the token of an ended session may still send. The exit signal answers an exact repeat and refuses the rest. A signal and a report are
 * about the session's own run, whose process may outlive the claim, and say nothing about the task. A seal signs what is recorded and moves
 * no task: proof-grade work ends with it, after the task is done.
 */
const AFTER_THE_END: ReadonlySet<string> = new Set(['exit-session', 'signal-agent', 'report-agent', 'seal']);

type SessionCaller = Caller & { readonly kind: 'session' };

/** The token of an ended session changes nothing: every command of a session passes here before it is decided. */
export function requireLiveSession(state: State, kind: string, caller: SessionCaller): Outcome<null> {
  return AFTER_THE_END.has(kind) ? decided([], null) : requireOwnClaim(state, caller);
}

/** The claim that a session was begun with still lives. */
export function requireOwnClaim(state: Pick<State, 'tasks'>, caller: SessionCaller): Outcome<null> {
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return noSuchTask(caller.taskId);
  const held = requireClaim(task, caller);
  return held.ok ? decided([], null) : held;
}
