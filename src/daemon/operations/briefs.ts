import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { projectBrief, type ProjectBrief } from '../../api/operations/project.ts';
import type { ResultOf } from '../../api/operations/registry.ts';
import { taskBrief } from '../../api/operations/tasks.ts';
import { readInside } from '../../git/worktree/read-inside.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import type { State } from '../../state/state.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import type { ClaimEnding, Task } from '../../state/tasks/task.ts';
import { handlerFor, reads, refusalOf, unchanged } from './call.ts';

export const briefHandler = handlerFor(taskBrief, async ({ input, project }) => {
  const settled = await project.commandLoop.submit<
    Omit<BriefSource, 'prompt' | 'references'> & { promptFile: string | null; description: string | null }
  >({
    actor: 'system:reader',
    decide: ({ state, ready }) => {
      const task = state.tasks.get(input.task_id);
      if (task === undefined) return refuseUnknownTask(input.task_id);
      const { id, title, phase, nextRole, notes, endings, promptFile, description } = task;
      const next = ready.first(state, 5);
      const record = findLatestRecord(state, task);
      const waitsFor = task.after
        .flatMap((before) => state.tasks.get(before) ?? [])
        .filter(({ phase }) => phase !== 'COMPLETED');
      const texts = { promptFile, description };
      return unchanged({ id, title, phase, nextRole, notes, endings, waitsFor, ...texts, next, record });
    },
  });
  if (!settled.ok) return refusalOf(settled);
  const { promptFile, description, ...known } = settled.answer;
  const described = description === null ? null : { path: null, text: description };
  const prompt = promptFile === null ? described : await readPrompt(project.path, promptFile);
  const references = [
    ...(promptFile === null ? [] : [promptFile]),
    ...findMentionedPaths(prompt?.text ?? ''),
    'CLAUDE.md',
    'AGENTS.md',
    'docs/guides/agent-bootstrap.md',
  ];
  const existing = [...new Set(references)].filter(
    (path) => isRelativePath(path) && existsSync(join(project.path, path)),
  );
  return { ok: true, result: renderTaskBrief({ ...known, prompt, references: existing }) };
});

/** The task's own latest record; else the project's, which describes the work done last. */
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

async function readPrompt(folder: string, path: string): Promise<BriefSource['prompt']> {
  const bytes = isRelativePath(path) ? await readInside(folder, path, MAX_PROMPT_BYTES) : undefined;
  return bytes === undefined ? null : { path, text: bytes.toString('utf8') };
}

/** Paths in links, in backticks, or plain with a folder in front. */
function findMentionedPaths(text: string): string[] {
  return [...text.matchAll(/(?:^|[\s("'`])((?:[\w.-]+\/)+[\w.-]+\.\w{1,8})/gm)]
    .map((match) => match[1] ?? '')
    .slice(0, 50);
}

export interface BriefSource {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  readonly nextRole: string | null;
  readonly notes: string | null;
  readonly waitsFor: readonly { readonly id: string; readonly title: string; readonly phase: string }[];
  readonly record: { readonly taskId: string; readonly record: ThoughtRecord } | null;
  readonly endings: readonly ClaimEnding[];
  readonly next: readonly { readonly id: string; readonly title: string; readonly phase: string }[];
  /** `path` is null for the description that the task was created with. */
  readonly prompt: { readonly path: string | null; readonly text: string } | null;
  readonly references: readonly string[];
}

const MAX_TOKENS = 2_500;
/** Current tokenizers need at least three characters a token for prose. */
const CHARACTERS_A_TOKEN = 3;
const MAX_SECTION_CHARACTERS = 1_500;

/** Sections in the order of the specification. What does not fit is cut, with a note. */
function renderTaskBrief(source: BriefSource): ResultOf<'task_brief'> {
  const role = source.nextRole === null ? '' : `, next role: ${source.nextRole}`;
  const sections = [
    `# ${source.id}: ${oneLine(source.title)}\n\nPhase: ${source.phase}${role}`,
    renderSection('Latest thought record', describeLatest(source)),
    renderSection('Blockers', describeBlockers(source)),
    renderSection(
      'How earlier sessions ended',
      source.endings.toReversed().map(describeEnding).join('\n') || 'There were none.',
    ),
    renderSection(
      'Next actions',
      source.next.map(({ id, title, phase }) => `- ${id} (${phase}): ${oneLine(title)}`).join('\n') || 'None.',
    ),
  ];
  const references = renderSection('Read first', source.references.map((path) => `- ${path}`).join('\n') || 'Nothing.');
  const spent = [...sections, references].join('\n\n').length;
  const room = MAX_TOKENS * CHARACTERS_A_TOKEN - spent - 100;
  if (source.prompt !== null) {
    const { path, text: prompt } = source.prompt;
    const title = path === null ? 'What is to be done' : `Prompt file ${path}`;
    sections.push(renderSection(title, renderCodeBlock(truncate(prompt, room, path ?? 'task_get'))));
  }
  const text = [...sections, references].join('\n\n');
  return { text, tokens: Math.ceil(text.length / CHARACTERS_A_TOKEN), references: source.references };
}

function renderSection(title: string, body: string): string {
  return `## ${title}\n\n${body}`;
}

function describeLatest({ id, record }: BriefSource): string {
  if (record === null) return 'None yet.';
  if (record.taskId === id) return describeRecord(record);
  return `None of ${id} yet. The newest one of the project is that of another task, ${record.taskId}:\n\n${describeRecord(record)}`;
}

function describeRecord({ taskId, record }: NonNullable<BriefSource['record']>): string {
  const facts = [
    `Task ${taskId}, branch ${oneLine(record.branch)}, commit ${record.commit_sha}`,
    `Tests run: ${record.tests_run.map(oneLine).join(', ') || 'none'}`,
    `Files changed: ${record.files_changed.map(oneLine).join(', ') || 'none'}`,
  ];
  return `${truncate(facts.join('\n'), MAX_SECTION_CHARACTERS / 2, 'task_get')}\n\n${renderCodeBlock(truncate(record.summary, MAX_SECTION_CHARACTERS, 'task_get'))}`;
}

function describeBlockers({ id, record, notes, waitsFor }: BriefSource): string {
  const waits = waitsFor.map((task) => `- waits for ${task.id} (${task.phase}): ${oneLine(task.title)}`).join('\n');
  // The blockers of another task do not apply.
  const blockers = record?.taskId === id ? record.record.blockers : [];
  const noted = notes === null ? [] : [`Notes: ${oneLine(notes)}`];
  const all = [...noted, ...blockers.map((blocker) => JSON.stringify(blocker))].join('\n');
  const quoted = all === '' ? '' : renderCodeBlock(truncate(all, MAX_SECTION_CHARACTERS, 'task_get'));
  const parts = [waits === '' ? '' : truncate(waits, MAX_SECTION_CHARACTERS, 'task_get'), quoted];
  return parts.filter((part) => part !== '').join('\n\n') || 'None.';
}

function describeEnding({ epoch, how, holder, reason, at }: ClaimEnding): string {
  return `- ${at} claim ${epoch} of ${oneLine(holder)}: ${how}${reason === null ? '' : ` (${oneLine(truncate(reason, 120, 'task_get'))})`}`;
}

/** Text of other agents is data: it stands in a fence that it cannot close. */
function renderCodeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

function truncate(text: string, most: number, where: string): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(0, most)).trimEnd()}\n[cut here; the rest: ${where}]`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

const MAX_LISTED = 5;

export const projectBriefHandler = reads(projectBrief, ({ state, ready }) => {
  const claimed = [...state.tasks.values()].filter(({ claim }) => claim !== null);
  return unchanged({
    claimable: ready.first(state, MAX_LISTED).map(({ id, title, phase }) => ({ id, title, phase })),
    claimed: claimed.slice(0, MAX_LISTED).map(({ id, title, claim }) => ({ id, title, holder: claim?.holder ?? '' })),
    claimed_total: claimed.length,
    decisions: [...state.decisions.values()].filter(({ result }) => result === null).length,
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

const MAX_PROMPT_BYTES = 65_536;
