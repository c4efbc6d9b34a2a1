import { checkClaim, type Caller } from '../caller.ts';
import { refuseUnknownTask } from './create-task.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';

/**
 * What the token of an ended session may still send. The exit signal answers an exact repeat and refuses the rest. A signal and a report are
 * about the session's own run, whose process may outlive the claim, and say nothing about the task. A seal signs what is recorded and moves
 * no task: proof-grade work ends with it, after the task is done.
 */
const ALLOWED_AFTER_END: ReadonlySet<string> = new Set(['exit-session', 'signal-agent', 'report-agent', 'seal']);

type SessionCaller = Caller & { readonly kind: 'session' };

/** The token of an ended session changes nothing: every command of a session passes here before it is decided. */
export function checkSessionIsLive(state: State, kind: string, caller: SessionCaller): Outcome<null> {
  return ALLOWED_AFTER_END.has(kind) ? decided([], null) : checkOwnClaim(state, caller);
}

/** The claim that a session was begun with still lives. */
export function checkOwnClaim(state: Pick<State, 'tasks'>, caller: SessionCaller): Outcome<null> {
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  return held.ok ? decided([], null) : held;
}
