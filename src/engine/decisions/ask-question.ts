import { event, type Event, type EventOf } from '../../state/event.ts';
import { isNotice } from '../../state/runs/open-decisions.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EngineContext } from '../context.ts';
import { askPeople } from './notify.ts';
import { quoteTitle } from '../../state/packet/author-of.ts';

/**
 * On `ResultSubmitted`: passes the questions of a result on to people. A corrected result replaces the questions of the
 * same claim. The work goes on meanwhile; the note of the answer reaches the next session.
 */
export function askQuestions(
  world: EngineContext,
  task: Task,
  { result }: EventOf<'ResultSubmitted'>['data'],
): Event[] {
  const since = task.claim?.at ?? '';
  const replaced = [...world.state.decisions.values()].filter(
    (decision) =>
      decision.taskId === task.id &&
      decision.source === 'prompt' &&
      decision.result === null &&
      decision.openedAt >= since &&
      isNotice(decision),
  );
  const reason = 'the session has submitted another result';
  const withdrawn = replaced.map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason }));
  const questions = (result.issues ?? []).flatMap(({ type, description }) =>
    type === 'question' ? [description] : [],
  );
  if (questions.length === 0) return withdrawn;
  const asked = askPeople(world, {
    source: 'prompt',
    title: `The result of a session asks: ${task.id}`,
    context: [quoteTitle(task), ...questions].join('\n'),
    options: [{ label: 'Answer with a note for the next session', action: 'dismiss' }],
    task_id: task.id,
  });
  return [...withdrawn, ...asked];
}
