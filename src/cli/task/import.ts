import { resolve } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import { findFormat, FORMATS } from '../../exchange/formats.ts';
import { type ExchangedTask, FORMAT_NAMES, type FormatName, type Notice } from '../../exchange/task.ts';
import { findRepository } from '../../git/repository.ts';
import { choice, flag, list, nullable, object, text, whole } from '../../protocol/shape/build-shape.ts';
import { problem } from '../../protocol/shape/problem.ts';
import { SHOWN_STATUSES } from '../../protocol/shape/shared-fields.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { reportProblems } from '../problems.ts';
import { printable } from '../text.ts';
import { findFormatName, type ImportSource, readGithubIssues, readSource, TAG_OPTION } from './import-source.ts';
import { descriptionPath, isRecordable, readKnownTasks, writeDescriptions } from './known-tasks.ts';

const imported = { id: text, title: text };
const importReport = object({
  format: { ...text, about: 'As in `--from`.' },
  source: { ...text, about: 'The file or tool.' },
  dry_run: flag,
  added: {
    ...list(object({ ...imported, status: choice(SHOWN_STATUSES), after: list(text) })),
    about: 'The new tasks; with `--dry-run`, the tasks that would be added.',
  },
  existing: {
    ...list(object({ ...imported, is_different: { ...flag, about: 'Its title differs from the title in the list.' } })),
    about: 'Tasks that exist already, which are not changed.',
  },
  notices: {
    ...list(object({ message: text, line: nullable(whole) })),
    about: 'Notes about interpretations, such as a changed id.',
  },
});

export const taskImportCommand: CliCommand = {
  examples: [
    'baton task import TODO.md',
    'baton task import .taskmaster/tasks/tasks.json --dry-run',
    'bd export | baton task import -',
    'baton task import --from github',
  ],
  args: [{ name: 'FILE|-', about: 'The list of tasks; if it is left out, --from github calls gh', optional: true }],
  options: [
    {
      name: 'from',
      value: 'FORMAT',
      choices: FORMAT_NAMES,
      about: 'markdown, task-master, beads or github (default: found by the content)',
    },
    { name: 'dry-run', about: 'Show what would be added without adding it' },
    TAG_OPTION,
    ...COMMON_OPTIONS,
  ],
  json: [{ shape: importReport }],
  async run(given, io) {
    const from = findFormatName(given.options.get('from'));
    const [file] = given.args;
    if (file === undefined && from !== 'github') return { usage: 'name the list: FILE, or - for standard input' };
    const folder = resolve(io.cwd, given.options.get('project') ?? '.');
    const source = file === undefined ? await readGithubIssues(folder, io) : await readSource(file, io);
    if (!('text' in source)) return reportProblems([{ ...source, file: file ?? 'gh' }], '', io);
    return importFrom({ source, format: from ?? findFormat(source.text), folder }, given, io);
  },
};

async function importFrom(
  { source, format, folder }: { source: ImportSource; format: FormatName | undefined; folder: string },
  given: ParsedArguments,
  io: Io,
): Promise<number> {
  if (format === undefined) return reportProblems([{ ...UNKNOWN_FORMAT, file: source.name }], source.text, io);
  return withClient(given, io, async (client) => {
    const known = await readKnownTasks(client);
    if (!known.ok) return reportError(known.error, given, io);
    const tag = given.options.get('tag');
    const ids = new Map(known.tasks.map((task) => [task.id, task]));
    const read = FORMATS[format].read(source.text, {
      known: new Set(ids.keys()),
      ...(tag === undefined ? {} : { tag }),
    });
    if (!read.ok) {
      const problems = read.problems.map((each) => ({ ...each, file: source.name }));
      return reportProblems(problems, source.text, io);
    }
    const fresh = read.value.tasks.filter(({ id }) => !ids.has(id));
    const existing = read.value.tasks.flatMap((task) => {
      const there = ids.get(task.id);
      return there === undefined ? [] : [{ id: task.id, title: there.title, is_different: there.title !== task.title }];
    });
    const name = `${FORMATS[format].title} (${source.name})`;
    const isDry = given.options.has('dry-run');
    const added = isDry ? { notices: [] } : await sendImport(client, fresh, { name, folder });
    if ('error' in added) return reportError(added.error, given, io);
    const report: ImportReport = {
      format,
      source: name,
      dry_run: isDry,
      added: fresh.map(({ id, title, status, after }) => ({ id, title, status, after })),
      existing,
      notices: [...read.value.notices, ...added.notices],
    };
    io.out(given.options.has('json') ? `${JSON.stringify(report)}\n` : renderImport(report));
    return EXIT.ok;
  });
}

/** Writes long descriptions first, because the daemon checks that their files exist. Removes them if it refuses. */
async function sendImport(
  client: Client,
  tasks: readonly ExchangedTask[],
  { name, folder }: { readonly name: string; readonly folder: string },
): Promise<{ readonly notices: readonly Notice[] } | { readonly error: ApiError }> {
  if (tasks.length === 0) return { notices: [] };
  const repository = await findRepository(folder);
  if (!repository.ok) return { error: repository.problem };
  const written = writeDescriptions(repository.value.mainTop, tasks);
  const answer = await client.call(
    'task_import',
    {
      source: name,
      tasks: tasks.map((task) => ({
        ...importInput(task),
        ...(written.ids.has(task.id) ? { prompt_file: descriptionPath(task.id) } : {}),
      })),
    },
    { timeoutMs: IMPORT_MS },
  );
  if (!answer.ok) {
    written.undo();
    return { error: answer.error };
  }
  const kept = written.different.map((id) => `${descriptionPath(id)} exists with other content: kept`);
  const filed = written.created.map((id) => `${descriptionPath(id)} has the long description of ${id}: commit it`);
  return { notices: [...kept, ...filed].map((message) => ({ message, line: null })) };
}

/** The task in the form of the API. */
export function importInput(task: ExchangedTask): InputOf<'task_import'>['tasks'][number] {
  const { id, title, status, after, priority, reason, description, githubIssue } = task;
  return {
    task_id: id,
    title,
    status,
    after,
    priority,
    ...(reason === null ? {} : { reason }),
    ...(description === '' || !isRecordable(task) ? {} : { description }),
    ...(githubIssue === undefined ? {} : { github_issue: githubIssue }),
  };
}

const UNKNOWN_FORMAT = problem(
  'import/unknown-format',
  'this is not a task list in a known format',
  'Name the format with --from markdown, task-master, beads or github. See: baton docs import',
);

export type ImportReport = ValueOf<typeof importReport>;

export function renderImport({ source, dry_run: isDry, added, existing, notices }: ImportReport): string {
  const done = `${isDry ? 'Would import' : 'Imported'} ${counted(added.length)} from ${source}`;
  const rows = isDry ? added.map(renderRow) : [];
  const changed = existing.filter((each) => each.is_different);
  const lines = [
    `${done}${statuses(added)}.`,
    ...rows,
    ...(existing.length === 0 ? [] : [`Not changed, since they exist already: ${renderNames(existing)}.`]),
    ...(changed.length === 0 ? [] : [`Their titles differ from the existing ones: ${renderNames(changed)}.`]),
    ...notices.slice(0, SHOWN).map(({ message, line }) => `  note: ${line === null ? '' : `line ${line}: `}${message}`),
    ...(notices.length > SHOWN ? [`  note: and ${notices.length - SHOWN} more; see them with --json`] : []),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

const SHOWN = 20;

function counted(count: number): string {
  return `${count} ${count === 1 ? 'task' : 'tasks'}`;
}

function statuses(added: ImportReport['added']): string {
  const counts = (['done', 'in_progress', 'blocked', 'cancelled', 'todo'] as const).flatMap((status) => {
    const count = added.filter((task) => task.status === status).length;
    return count === 0 ? [] : [`${count} ${status}`];
  });
  return counts.length === 0 ? '' : `: ${counts.join(', ')}`;
}

function renderNames(tasks: readonly { readonly id: string }[]): string {
  const ids = tasks.slice(0, SHOWN).map(({ id }) => id);
  return tasks.length > SHOWN ? `${ids.join(', ')} and ${tasks.length - SHOWN} more` : ids.join(', ');
}

function renderRow({ id, title, status, after }: ImportReport['added'][number]): string {
  return `  ${id}  ${status}  ${title}${after.length === 0 ? '' : `  (after ${after.join(', ')})`}`;
}

const IMPORT_MS = 300_000;
