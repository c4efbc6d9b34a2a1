import { event } from '../event.ts';
import { decided, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';

/** What was measured of a session that ended without an exit signal; one that sent a signal was measured with that. */
export interface MeasureSession {
  readonly sessionId: string;
  readonly measured: Omit<WorkflowEvents['SessionMeasured'], 'task_id' | 'epoch' | 'session_id' | 'violations'>;
  readonly violations: readonly string[];
}

/** Nothing comes of it where the session goes on, was measured already, or somebody else has the task by now. */
export function decideMeasureSession(
  state: State,
  { sessionId: session_id, measured, violations }: MeasureSession,
): Outcome<null> {
  const session = state.sessions.get(session_id);
  const task = state.tasks.get(session?.taskId ?? '');
  if (
    session?.prepared === undefined ||
    session.measured === true ||
    task?.epoch !== session.epoch ||
    task.claim !== null
  )
    return decided([], null);
  const { epoch } = session;
  return decided([event('SessionMeasured', { task_id: task.id, epoch, session_id, ...measured, violations })], null);
}
