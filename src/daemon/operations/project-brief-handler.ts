import { projectBrief } from '../../api/operations/project.ts';
import type { State } from '../../state/state.ts';
import type { ClaimEnding, Task } from '../../state/tasks/task.ts';
import { answerFor, handlerFor } from './handler.ts';

const MAX_LISTED = 5;

/** What whoever sits down in this repository wants to know first. */
export const projectBriefHandler = handlerFor(projectBrief, async ({ project }) => {
  const settled = await project.commandLoop.submit({
    actor: 'system:reader',
    decide: ({ state, ready }) => {
      const claimed = [...state.tasks.values()].filter(({ claim }) => claim !== null);
      const answer = {
        claimable: ready.first(state, MAX_LISTED).map(({ id, title, phase }) => ({ id, title, phase })),
        claimed: claimed
          .slice(0, MAX_LISTED)
          .map(({ id, title, claim }) => ({ id, title, holder: claim?.holder ?? '' })),
        claimed_total: claimed.length,
        decisions: [...state.decisions.values()].filter(({ result }) => result === null).length,
        last_session: findLastSession(state),
      };
      return { ok: true, events: [], answer };
    },
  });
  return answerFor(settled, (brief) => brief);
});

/** The claim that ended last, and what was recorded under it. */
function findLastSession({ tasks }: State): object | null {
  let last: { readonly task: Task; readonly ending: ClaimEnding } | undefined;
  for (const task of tasks.values()) {
    const ending = task.endings.at(-1);
    if (ending !== undefined && (last === undefined || ending.at > last.ending.at)) last = { task, ending };
  }
  if (last === undefined) return null;
  const { task, ending } = last;
  const { how, holder, reason, at, epoch } = ending;
  const isRecorded = task.records.some((record) => record.epoch === epoch);
  const { summary, branch, commit_sha, blockers } = (isRecorded ? task.latestRecord : null) ?? {};
  const record = summary === undefined ? null : { summary, branch, commit_sha, blockers };
  return { task_id: task.id, title: task.title, phase: task.phase, how, holder, reason, at, record };
}
