import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import type { ClaimEnding } from '../../state/tasks/task.ts';

/** What the next agent should know, gathered. */
export interface BriefSource {
  readonly id: string;
  readonly title: string;
  readonly phase: string;
  readonly nextRole: string | null;
  readonly notes: string | null;
  /** Tasks that it comes after and that are not done. */
  readonly waitsFor: readonly { readonly id: string; readonly title: string; readonly phase: string }[];
  readonly record: { readonly taskId: string; readonly record: ThoughtRecord } | null;
  readonly endings: readonly ClaimEnding[];
  readonly next: readonly { readonly id: string; readonly title: string; readonly phase: string }[];
  readonly prompt: { readonly path: string; readonly text: string } | null;
  /** Paths that exist, in the order in which to read them. */
  readonly references: readonly string[];
}

export interface Brief {
  readonly text: string;
  /** An upper estimate: three characters a token are fewer than any current tokenizer needs for prose. */
  readonly tokens: number;
  /** Where the rest is. */
  readonly references: readonly string[];
}

const MAX_TOKENS = 2_500;
const CHARACTERS_A_TOKEN = 3;
/** What the shorter sections may take of the whole; the prompt file gets what is left. */
const MAX_SECTION_CHARACTERS = 1_500;

/** The brief, in the order of the source document. What does not fit is cut, and named. */
export function renderTaskBrief(source: BriefSource): Brief {
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
  if (source.prompt !== null)
    sections.push(
      renderSection(
        `Prompt file ${source.prompt.path}`,
        renderCodeBlock(truncate(source.prompt.text, room, source.prompt.path)),
      ),
    );
  const text = [...sections, references].join('\n\n');
  return { text, tokens: Math.ceil(text.length / CHARACTERS_A_TOKEN), references: source.references };
}

function renderSection(title: string, body: string): string {
  return `## ${title}\n\n${body}`;
}

/** Before anything was recorded for the task itself, the newest record of the project says where the work stands. */
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
  // What blocked another task says nothing about this one.
  const blockers = record?.taskId === id ? record.record.blockers : [];
  const told = notes === null ? [] : [`Notes: ${oneLine(notes)}`];
  const all = [...told, ...blockers.map((blocker) => JSON.stringify(blocker))].join('\n');
  const said = all === '' ? '' : renderCodeBlock(truncate(all, MAX_SECTION_CHARACTERS, 'task_get'));
  const parts = [waits === '' ? '' : truncate(waits, MAX_SECTION_CHARACTERS, 'task_get'), said];
  return parts.filter((part) => part !== '').join('\n\n') || 'None.';
}

function describeEnding({ epoch, how, holder, reason, at }: ClaimEnding): string {
  return `- ${at} claim ${epoch} of ${oneLine(holder)}: ${how}${reason === null ? '' : ` (${oneLine(truncate(reason, 120, 'task_get'))})`}`;
}

/** Words of other agents are data: they stand in a fence that they cannot close. */
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
