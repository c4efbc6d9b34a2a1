import { event, type Event } from '../state/event.ts';
import type { DecisionAction } from '../state/runs/decision.ts';
import type { Question } from '../state/runs/resolve-decision.ts';
import { phaseMovedEvent } from '../state/tasks/claim-task.ts';
import type { Task } from '../state/tasks/task.ts';
import type { EngineContext } from './context.ts';
import { askPeople } from './notify.ts';
import { describeReason } from './resume.ts';

interface Hold extends Pick<Question, 'source' | 'context' | 'options'> {
  /** What is held, for example `ready for review`. */
  readonly stage: string;
}

/** Opens a decision and keeps the task from being claimed until it is answered. Does nothing if the task is held already. */
export function holdTask(world: EngineContext, task: Task, { stage, ...question }: Hold): Event[] {
  if (task.flow.held !== null) return [];
  const decision_id = world.newId();
  const title = `Task needs attention: ${task.id} ${stage}`;
  return [
    ...askPeople(world, { ...question, title, task_id: task.id }, decision_id),
    event('TaskHeld', { task_id: task.id, decision_id, stage }),
  ];
}

/** On the answer: the task continues, is blocked or is cancelled, with the person's reason. */
export function applyHoldDecision(task: Task, action: DecisionAction, message: string | null): Event[] {
  const freed = event('TaskFreed', { task_id: task.id });
  if (action !== 'deny' && action !== 'cancel') return [freed];
  const reason = describeReason(action, message);
  const isOver = task.phase === 'COMPLETED';
  if (action === 'cancel' && !isOver)
    return [freed, phaseMovedEvent(task, 'BLOCKED', { cause: 'cancelled', reason: `cancelled: ${reason}` })];
  const why = { cause: 'decision', reason } as const;
  // A completed task stays completed; no role closes it any more.
  return [freed, isOver ? phaseMovedEvent(task, 'COMPLETED', why, null) : phaseMovedEvent(task, 'BLOCKED', why)];
}

/** Asks a person before the work continues: in semi mode at four stages, in supervised mode at every stage. */
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

function stageOf({ phase, nextRole }: Task): { readonly name: string; readonly isForSemi: boolean } | null {
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
