import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { taskBrief } from '../../api/operations/tasks.ts';
import { readInside } from '../../git/worktree/read-inside.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import { renderTaskBrief, type BriefSource } from './brief.ts';
import { answerFor, handlerFor } from './handler.ts';

/** What agents are told to read in every repository, where it is there. */
const STANDING_DOCUMENTS = ['CLAUDE.md', 'AGENTS.md', 'docs/guides/agent-bootstrap.md'];
const MAX_PROMPT_BYTES = 65_536;

export const briefHandler = handlerFor(taskBrief, async ({ input, project }) => {
  const settled = await project.commandLoop.submit<
    Omit<BriefSource, 'prompt' | 'references'> & { promptFile: string | null }
  >({
    actor: 'system:reader',
    decide: ({ state, ready }) => {
      const task = state.tasks.get(input.task_id);
      if (task === undefined) return refuseUnknownTask(input.task_id);
      const { id, title, phase, nextRole, notes, endings, promptFile } = task;
      const next = ready.first(state, 5);
      const record = findLatestRecord(state, task);
      const waitsFor = task.after.flatMap((before) => state.tasks.get(before) ?? []).filter((each) => !isDone(each));
      const known = { id, title, phase, nextRole, notes, endings, waitsFor, promptFile, next, record };
      return { ok: true, events: [], answer: known };
    },
  });
  if (!settled.ok) return answerFor(settled, () => null);
  const { promptFile, ...known } = settled.answer;
  const prompt = promptFile === null ? null : await readPrompt(project.path, promptFile);
  const references = [
    ...(promptFile === null ? [] : [promptFile]),
    ...findMentionedPaths(prompt?.text ?? ''),
    ...STANDING_DOCUMENTS,
  ];
  const existing = [...new Set(references)].filter(
    (path) => isRelativePath(path) && existsSync(join(project.path, path)),
  );
  return { ok: true, result: renderTaskBrief({ ...known, prompt, references: existing }) };
});

/** The task's own latest record; where it has none, the project's, which says what was just done. */
function findLatestRecord(state: State, task: Task): BriefSource['record'] {
  if (task.latestRecord !== null) return { taskId: task.id, record: task.latestRecord };
  let newest: { seq: number; task: Task } | undefined;
  for (const other of state.tasks.values()) {
    const seq = other.records.at(-1)?.seq ?? 0;
    if (seq > (newest?.seq ?? 0)) newest = { seq, task: other };
  }
  if (newest === undefined || newest.task.latestRecord === null) return null;
  return { taskId: newest.task.id, record: newest.task.latestRecord };
}

function isDone({ phase }: Task): boolean {
  return phase === 'COMPLETED';
}

async function readPrompt(folder: string, path: string): Promise<BriefSource['prompt']> {
  const bytes = isRelativePath(path) ? await readInside(folder, path, MAX_PROMPT_BYTES) : undefined;
  return bytes === undefined ? null : { path, text: bytes.toString('utf8') };
}

/** Paths that a prompt file names: in links, in backticks, or plainly with a folder in front. */
function findMentionedPaths(text: string): string[] {
  return [...text.matchAll(/(?:^|[\s("'`])((?:[\w.-]+\/)+[\w.-]+\.\w{1,8})/gm)]
    .map((match) => match[1] ?? '')
    .slice(0, 50);
}
