import { event, type Event } from '../state/event.ts';
import { rulesFor } from '../state/rules.ts';
import { OPTION_LABELS } from '../state/runs/option-labels.ts';
import { isCancelled, type Task } from '../state/tasks/task.ts';
import { notifyAttention } from './notify.ts';
import { cancelPending, setTimer } from './pending.ts';
import type { EngineContext } from './context.ts';

/** A task has come into a phase: where it may not stay there for ever, its time begins, and that of the phase before is over. */
export function setStallTimer(world: EngineContext, task: Task, seq: number): Event[] {
  const { stallMs } = rulesFor(task, world.rules);
  if (stallMs === undefined) return [];
  const limit = stallMs[task.phase];
  const over = cancelPending(
    [...world.state.effects.values()]
      .filter((effect) => effect.kind === 'wait')
      .filter(({ purpose }) => purpose.kind === 'stall' && purpose.task_id === task.id),
  );
  if (limit === undefined || task.phase === 'COMPLETED' || isCancelled(task)) return over;
  const purpose = { kind: 'stall', task_id: task.id, phase: task.phase, since: seq } as const;
  return [...over, setTimer(world, limit, purpose)];
}

/** On the timer: people hear of it, with a question that they can set aside. A task that waits for a person has been told of. */
export function onStall(world: EngineContext, task: Task | undefined, phase: Task['phase'], since: number): Event[] {
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
      options: [{ label: OPTION_LABELS.dismiss, action: 'dismiss', recommended: true }],
      agent_id: null,
      pipeline_id: null,
      task_id: task.id,
    }),
    notifyAttention(world, title, context, decision_id),
  ];
}
