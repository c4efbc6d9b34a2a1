import type { Event } from '../state/event.ts';
import type { Task } from '../state/tasks/task.ts';
import { holdTask } from './hold-task.ts';
import type { EngineContext } from './context.ts';

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
