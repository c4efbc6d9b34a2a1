import { projectBrief, type ProjectBrief } from '../../api/operations/project.ts';
import { taskBrief } from '../../api/operations/tasks.ts';
import { readReadingList } from '../../effects/sessions/reading-list.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { needsPerson } from '../../state/runs/open-decisions.ts';
import { buildPacket, type Packet } from '../../state/packet/packet.ts';
import { renderPacket } from '../../state/packet/render-packet.ts';
import type { State } from '../../state/state.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import type { ClaimEnding, Task } from '../../state/tasks/task.ts';
import { handlerFor, reads, refusalOf, unchanged } from './call.ts';

export const briefHandler = handlerFor(taskBrief, async ({ input, project }) => {
  const settled = await project.commandLoop.submit<Packet>({
    actor: 'system:reader',
    decide: ({ state, ready }) => {
      const task = state.tasks.get(input.task_id);
      return task === undefined
        ? refuseUnknownTask(input.task_id)
        : unchanged(buildPacket(state, task, ready.first(state, MAX_LISTED)));
    },
  });
  if (!settled.ok) return refusalOf(settled);
  const { prompt, references } = await readReadingList(project.path, settled.answer.task.promptFile);
  return { ok: true, result: { ...renderPacket(settled.answer, { references, prompt }), references: [...references] } };
});

const MAX_LISTED = 5;

export const projectBriefHandler = reads(projectBrief, ({ state, ready }) => {
  const claimed = [...state.tasks.values()].filter(({ claim }) => claim !== null);
  return unchanged({
    claimable: ready.first(state, MAX_LISTED).map(({ id, title, phase }) => ({ id, title, phase })),
    claimed: claimed.slice(0, MAX_LISTED).map(({ id, title, claim }) => ({ id, title, holder: claim?.holder ?? '' })),
    claimed_total: claimed.length,
    decisions: [...state.decisions.values()].filter(needsPerson).length,
    last_session: findLastSession(state),
  });
});

function findLastSession({ tasks }: State): ProjectBrief['last_session'] {
  let last: { readonly task: Task; readonly ending: ClaimEnding } | undefined;
  for (const task of tasks.values()) {
    const ending = task.endings.at(-1);
    if (ending !== undefined && (last === undefined || ending.at > last.ending.at)) last = { task, ending };
  }
  if (last === undefined) return null;
  const { task, ending } = last;
  const { how, holder, reason, at, epoch } = ending;
  const isRecorded = task.records.some((record) => record.epoch === epoch);
  const latest = isRecorded ? task.latestRecord : null;
  const record = latest && pickRecord(latest);
  return { task_id: task.id, title: task.title, phase: task.phase, how, holder, reason, at, record };
}

function pickRecord({ summary, branch, commit_sha, blockers }: ThoughtRecord) {
  return { summary, branch, commit_sha, blockers };
}
