import type { Event } from '../state/event.ts';
import { JUDGED } from '../state/judged-phase.ts';
import { hasUnjudgedHead, leaveJudgement } from '../state/return-to-work.ts';
import type { Task } from '../state/task.ts';
import type { World } from './world.ts';

/** On `SessionMeasured`: a session that was to judge the work committed to it and ended. The next reviewer must not get an unchecked commit. */
export function onMeasured({ rules }: World, task: Task): Event[] {
  if (task.claim !== null || !JUDGED.has(task.phase) || !hasUnjudgedHead(task)) return [];
  return leaveJudgement(task, { cause: 'checks', reason: 'a session that reviewed the work changed it' }, rules);
}
