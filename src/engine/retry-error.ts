import { parseHandoff } from '../protocol/handoff/index.ts';
import { HANDOFF_EDGES } from '../protocol/handoff/index.ts';
import { event, type Event, type EventOf } from '../state/event.ts';
import { returnFromBlocked } from '../state/tasks/return-to-work.ts';
import type { Task } from '../state/tasks/task.ts';
import type { EngineContext } from './context.ts';

const RETRY_DELAYS_MS = HANDOFF_EDGES.flatMap((edge) => ('retry_after_ms' in edge ? edge.retry_after_ms : []));

/** An error handoff blocks its task. Where the error may go away by itself, the same role tries again, a few times. */
export function retryError({ state, newId, at }: EngineContext, handoff: EventOf<'HandoffDelivered'>['data']): Event[] {
  const task = state.tasks.get(handoff.task_id);
  if (handoff.to !== 'orchestrator' || task === undefined || !isRecoverable(handoff.xml)) return [];
  const waitMs = RETRY_DELAYS_MS[task.flow.retries - 1];
  if (waitMs === undefined) return [];
  const due = new Date(Date.parse(at) + waitMs).toISOString();
  const purpose = { kind: 'unblock', task_id: task.id, since: task.epoch } as const;
  return [event('TimerSet', { timer_id: newId(), due, purpose })];
}

/** On the timer: unless somebody has looked after it meanwhile. */
export function retryAfterDelay({ rules }: EngineContext, task: Task | undefined, since: number): Event[] {
  if (task === undefined || task.blocked === null || task.epoch !== since) return [];
  return returnFromBlocked(task, { cause: 'retried', reason: 'tried again after a recoverable error' }, rules);
}

function isRecoverable(xml: string): boolean {
  const parsed = parseHandoff(xml);
  const error = parsed.ok && parsed.value.kind === 'handoff' ? parsed.value['error'] : undefined;
  return typeof error === 'object' && 'recoverable' in error && error.recoverable === true;
}
