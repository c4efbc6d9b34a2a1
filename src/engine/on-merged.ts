import { event, type Event, type EventOf } from '../state/event.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { OPTION_LABELS } from '../state/runs/option-labels.ts';
import type { Task } from '../state/tasks/task.ts';
import { notifyAttention } from './notify.ts';
import type { EngineContext } from './context.ts';

/**
 * It is merged, and yet something is wrong with what came of it: at GitHub somebody else's commit can come onto the main branch between
 * the last check and the merge. Nothing can be taken back, so people hear of it at once.
 */
export function onMerged(world: EngineContext, task: Task, data: EventOf<'MergeFinished'>['data']): Event[] {
  const { outcome, reason, merge_sha } = data;
  if (outcome !== 'merged' || reason === null) return [];
  const decision_id = world.newId();
  const title = `The main branch needs attention: ${task.id} was merged onto another commit than was checked`;
  const context = `${task.title}\nMerged as ${merge_sha ?? ''}. ${reason}`;
  return [
    event('DecisionOpened', {
      decision_id,
      source: 'merge',
      title,
      context: excerptStart(context),
      options: [{ label: OPTION_LABELS.dismiss, action: 'dismiss', recommended: true }],
      agent_id: null,
      pipeline_id: null,
      task_id: task.id,
    }),
    notifyAttention(world, title, context, decision_id),
  ];
}
