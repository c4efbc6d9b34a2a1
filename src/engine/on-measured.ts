import type { Event } from '../state/event.ts';
import { JUDGED_PHASES } from '../state/tasks/judged-phase.ts';
import { hasUnjudgedHead, sendBackToChecks } from '../state/tasks/return-to-work.ts';
import type { Task } from '../state/tasks/task.ts';
import type { EngineContext } from './context.ts';

/** On `SessionMeasured`: a session that was to judge the work committed to it and ended. The next reviewer must not get an unchecked commit. */
export function onMeasured({ rules }: EngineContext, task: Task): Event[] {
  if (task.claim !== null || !JUDGED_PHASES.has(task.phase) || !hasUnjudgedHead(task)) return [];
  return sendBackToChecks(task, { cause: 'checks', reason: 'a session that reviewed the work changed it' }, rules);
}
