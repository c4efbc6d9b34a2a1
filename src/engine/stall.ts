import { event, type Event } from '../state/event.ts';
import type { Task } from '../state/task.ts';
import { notifyAttention } from './notify.ts';
import type { World } from './world.ts';

/** A task has come into a phase: where it may not stay there for ever, its time begins. */
export function timePhase({ rules, newId, at }: World, task: Task, seq: number): Event[] {
  const limit = rules.stallMs?.[task.phase];
  if (limit === undefined || task.phase === 'COMPLETED') return [];
  const due = new Date(Date.parse(at) + limit).toISOString();
  const purpose = { kind: 'stall', task_id: task.id, phase: task.phase, since: seq } as const;
  return [event('TimerSet', { timer_id: newId(), due, purpose })];
}

/** On the timer: people hear of it, with a question that they can set aside. The phase's newer timers speak for themselves. */
export function onStall(world: World, task: Task | undefined, phase: Task['phase'], since: number): Event[] {
  if (task === undefined || task.phase !== phase || task.flow.movedAt !== since || task.flow.held !== null) return [];
  const decision_id = world.newId();
  const title = `Task needs attention: ${task.id} has stalled`;
  const who = task.claim === null ? 'nobody holds it' : `${task.claim.holder} holds it`;
  const context = `${task.title}\nIt has been ${phase} for longer than its stall limit; ${who}.`;
  return [
    event('DecisionOpened', {
      decision_id,
      source: 'review',
      title,
      context,
      options: [{ label: 'Do nothing', action: 'dismiss', recommended: true }],
      agent_id: null,
      pipeline_id: null,
      task_id: task.id,
    }),
    notifyAttention(world, title, context, decision_id),
  ];
}
