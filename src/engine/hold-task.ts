import { event, type Event } from '../state/event.ts';
import type { DecisionAction, DecisionOption, DecisionSource } from '../state/runs/decision.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { phaseMovedEvent } from '../state/tasks/claim-task.ts';
import type { Task } from '../state/tasks/task.ts';
import type { EngineContext } from './context.ts';
import { notifyAttention } from './notify.ts';
import { describeReason } from './resume.ts';

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

/** Where a person wants to look before it goes on: at four places, or at every stage. */
export function holdAtCheckpoint(world: EngineContext, task: Task): Event[] {
  const stage = stageOf(task);
  const { mode } = task.flow;
  if (mode === null || mode === 'autonomous' || stage === null) return [];
  if (mode === 'semi' && !stage.isForSemi) return [];
  const options = [
    { label: 'Continue', action: 'approve' },
    { label: 'Block the task', action: 'deny' },
  ] as const;
  const context = `${task.title}\n${task.id} is ${task.phase}; next is ${task.nextRole ?? 'nobody in particular'}.`;
  return holdTask(world, task, { source: 'review', stage: stage.name, context, options });
}

interface Stage {
  readonly name: string;
  readonly isForSemi: boolean;
}

function stageOf({ phase, nextRole }: Task): Stage | null {
  switch (phase) {
    case 'DRAFT':
      return { name: nextRole === 'prep' ? 'issue written' : 'requested', isForSemi: false };
    case 'IMPLEMENTATION':
      return { name: nextRole === 'fixer' ? 'fix decision' : 'ready for work', isForSemi: true };
    case 'READY_FOR_REVIEW':
      return { name: 'ready for review', isForSemi: true };
    case 'READY_FOR_MERGE':
      return { name: 'merge', isForSemi: true };
    case 'COMPLETED':
      return nextRole === null ? null : { name: 'merged', isForSemi: false };
    case 'CI_PENDING':
    case 'REVIEW':
    case 'BLOCKED':
      return null;
  }
}
