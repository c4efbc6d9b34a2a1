import { phaseMovedEvent } from '../state/tasks/end-claim.ts';
import { event, type Event } from '../state/event.ts';
import type { DecisionAction, DecisionOption, DecisionSource } from '../state/runs/decision.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import type { Task } from '../state/tasks/task.ts';
import { notifyAttention } from './notify.ts';
import { describeReason } from './set-going.ts';
import type { EngineContext } from './context.ts';

export interface Hold {
  readonly source: DecisionSource;
  /** What waits: `ready for review`. */
  readonly stage: string;
  readonly context: string;
  /** The first is recommended. */
  readonly options: readonly { readonly label: string; readonly action: DecisionAction }[];
}

/** Nobody claims the task until a person has answered. One that is held already is not asked about twice. */
export function holdTask(world: EngineContext, task: Task, { source, stage, context, options }: Hold): Event[] {
  if (task.flow.held !== null) return [];
  const decision_id = world.newId();
  const title = `Task needs attention: ${task.id} ${stage}`;
  const listed: DecisionOption[] = options.map((option, i) => ({ ...option, recommended: i === 0 }));
  return [
    event('DecisionOpened', {
      decision_id,
      source,
      title,
      context: excerptStart(context),
      options: listed,
      agent_id: null,
      pipeline_id: null,
      task_id: task.id,
    }),
    notifyAttention(world, title, context, decision_id),
    event('TaskHeld', { task_id: task.id, decision_id, stage }),
  ];
}

/** What the person chose: the task goes on, is blocked, or is cancelled, with their reason. */
export function applyHoldDecision(task: Task, action: DecisionAction, message: string | null): Event[] {
  const freed = event('TaskFreed', { task_id: task.id });
  if (action !== 'deny' && action !== 'cancel') return [freed];
  const reason = describeReason(action, message);
  const isOver = task.phase === 'COMPLETED';
  if (action === 'cancel' && !isOver)
    return [freed, phaseMovedEvent(task, 'BLOCKED', { cause: 'cancelled', reason: `cancelled: ${reason}` })];
  const why = { cause: 'decision', reason } as const;
  // What is completed stays so; nobody closes it any more.
  return [freed, isOver ? phaseMovedEvent(task, 'COMPLETED', why, null) : phaseMovedEvent(task, 'BLOCKED', why)];
}
