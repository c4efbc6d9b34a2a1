import { event, type Event, type EventOf } from '../../state/event.ts';
import type { Question } from '../../state/runs/resolve-decision.ts';
import { phaseMovedEvent } from '../../state/tasks/claim-task.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EngineContext } from '../context.ts';
import { askPeople } from './notify.ts';
import { describeReason } from '../resume.ts';
import { assignTask, sendBack, steeringOptions } from './steer-task.ts';
import { quoteTitle } from '../../state/packet/author-of.ts';

interface Hold extends Pick<Question, 'source' | 'context' | 'options' | 'recommends'> {
  /** The stage at which the task is held, for example `ready for review`. */
  readonly stage: string;
}

/** Opens a decision, and prevents claims of the task until it is answered. Does nothing if the task is already held. */
export function holdTask(world: EngineContext, task: Task, { stage, ...question }: Hold): Event[] {
  if (task.flow.held !== null) return [];
  const decision_id = world.newId();
  const title = `Task needs attention: ${task.id} (${stage})`;
  return [
    ...askPeople(world, { ...question, title, task_id: task.id }, decision_id),
    event('TaskHeld', { task_id: task.id, decision_id, stage }),
  ];
}

/**
 * On the answer: the task continues, goes back, changes hands, is blocked or is cancelled, with the person's reason.
 */
export function applyHoldDecision(
  world: EngineContext,
  task: Task,
  resolved: EventOf<'DecisionResolved'>['data'],
): Event[] {
  const { action, message } = resolved;
  const freed = event('TaskFreed', { task_id: task.id });
  if (action === 'send_back') return [freed, ...sendBack(world, task, message ?? '')];
  if (action === 'hand_over' || action === 'take_over') return [freed, ...assignTask(world, task, resolved)];
  if (action !== 'deny' && action !== 'cancel') return [freed];
  const reason = describeReason(action, message);
  const isOver = task.phase === 'COMPLETED';
  if (action === 'cancel' && !isOver)
    return [freed, phaseMovedEvent(task, 'BLOCKED', { cause: 'cancelled', reason: `cancelled: ${reason}` })];
  const why = { cause: 'decision', reason } as const;
  // A completed task stays completed, and no role closes it any more.
  return [freed, isOver ? phaseMovedEvent(task, 'COMPLETED', why, null) : phaseMovedEvent(task, 'BLOCKED', why)];
}

/** Asks a person before the work continues: in semi mode at four stages, in supervised mode at every stage. */
export function holdAtCheckpoint(world: EngineContext, task: Task): Event[] {
  const stage = stageOf(task);
  const { mode } = task.flow;
  if (mode === null || mode === 'autonomous' || stage === null) return [];
  if (mode === 'semi' && !stage.isForSemi) return [];
  const options = [
    { label: stage.approve, action: 'approve' },
    { label: 'Block the task', action: 'deny' },
    ...steeringOptions(task),
  ] as const;
  const context = `${quoteTitle(task)}\n${task.id} is ${task.phase}; the next role is ${task.nextRole ?? 'not set'}.`;
  return holdTask(world, task, { source: 'review', stage: stage.name, context, options });
}

interface Stage {
  readonly name: string;
  readonly isForSemi: boolean;
  /** What happens if the person agrees. */
  readonly approve: string;
}

function stageOf({ phase, nextRole }: Task): Stage | null {
  switch (phase) {
    case 'DRAFT':
      return nextRole === 'prep'
        ? { name: 'issue written', isForSemi: false, approve: 'Accept the issue' }
        : { name: 'requested', isForSemi: false, approve: 'Start writing the issue' };
    case 'IMPLEMENTATION':
      return nextRole === 'fixer'
        ? { name: 'fix decision', isForSemi: true, approve: 'Start the fixer' }
        : { name: 'ready for work', isForSemi: true, approve: 'Start the implementer' };
    case 'READY_FOR_REVIEW':
      return { name: 'ready for review', isForSemi: true, approve: 'Start the review' };
    case 'READY_FOR_MERGE':
      return { name: 'merge', isForSemi: true, approve: 'Validate and merge' };
    case 'COMPLETED':
      return nextRole === null ? null : { name: 'merged', isForSemi: false, approve: 'Close the workflow' };
    case 'CI_PENDING':
    case 'REVIEW':
    case 'BLOCKED':
      return null;
  }
}
