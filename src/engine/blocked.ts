import { event, type Event, type EventOf, type RecordedEvent } from '../state/event.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { isCancelled, type Task } from '../state/tasks/task.ts';
import { notifyAttention } from './notify.ts';
import type { EngineContext } from './context.ts';

/**
 * A workflow's task is blocked, or a merge is refused: a person is asked, unless a person blocked it, a decision about it is open, or a
 * retry is scheduled.
 */
export function onBlocked(world: EngineContext, task: Task, recorded: RecordedEvent & EventOf<'PhaseMoved'>): Event[] {
  const { actor, data } = recorded;
  const isMerge = data.cause === 'merge-refused';
  if (task.flow.mode === null && !isMerge) return [];
  if (actor.startsWith('operator:') || data.cause === 'decision' || isCancelled(task)) return [];
  if (isAskedAbout(world, task.id) || isTriedAgain(world, task.id)) return [];
  const decision_id = world.newId();
  const title = `Task needs attention: ${task.id} is blocked`;
  const context = `${task.title}\n${data.reason}`;
  const opened = event('DecisionOpened', {
    decision_id,
    source: isMerge ? 'merge' : 'error',
    title,
    context: excerptStart(context),
    options: [
      { label: `Retry from ${task.blocked?.from ?? data.from}`, action: 'retry', recommended: true },
      { label: 'Leave the task blocked', action: 'dismiss', recommended: false },
    ],
    agent_id: null,
    pipeline_id: null,
    task_id: task.id,
  });
  return [opened, notifyAttention(world, title, context, decision_id)];
}

function isAskedAbout({ state }: EngineContext, taskId: string): boolean {
  const open = [...state.decisions.values()].filter(({ taskId: about, result }) => about === taskId && result === null);
  // What does not fit what is in git is another question.
  return open.some(({ source }) => source !== 'reconcile');
}

function isTriedAgain({ state }: EngineContext, taskId: string): boolean {
  return [...state.effects.values()].some(
    (effect) => effect.kind === 'wait' && effect.purpose.kind === 'unblock' && effect.purpose.task_id === taskId,
  );
}
