import { parseResult } from '../protocol/result.ts';
import { actorOf, requireClaim } from '../state/caller.ts';
import { event } from '../state/event.ts';
import { refusal } from '../state/outcome.ts';
import { missionIds } from '../state/task.ts';
import { answerOf, badInput, type Handler } from './handler.ts';

/** The result of a mission, kept with the claim until the session ends. */
export const resultHandler: Handler = async ({ input, caller, project, key }) => {
  const parsed = parseResult(input);
  if (!parsed.ok) return badInput(parsed);
  const result = parsed.value;
  const settled = await project.keeper.submit({
    actor: actorOf(caller),
    ...(key === undefined ? {} : { key }),
    decide: ({ state }) => {
      const task = caller.kind === 'session' ? state.tasks.get(caller.taskId) : undefined;
      if (task === undefined || caller.kind !== 'session')
        return refusal('no-claim', 'results belong to a session', '');
      const held = requireClaim(task, caller);
      if (!held.ok) return held;
      const { taskId } = missionIds(task);
      if (result.task_id !== taskId) {
        return refusal('wrong-task', `the result is about ${result.task_id}, and the mission about ${taskId}`, '');
      }
      const { epoch, sessionId: session_id } = held.claim;
      const submitted = event('ResultSubmitted', { task_id: task.id, epoch, session_id, result });
      return { ok: true, events: [submitted], answer: { task_id: task.id, status: result.status } };
    },
  });
  return answerOf(settled, (answer) => answer);
};
