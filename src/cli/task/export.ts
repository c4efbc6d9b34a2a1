import { chmodSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { findFormat, FORMATS } from '../../exchange/formats.ts';
import type { FormatName, Notice } from '../../exchange/task.ts';
import { findRepository } from '../../git/repository.ts';
import { findWriteObstacle, followLinks } from '../../hooks/files/file-text.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { renderProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { formatOption, readSource, TAG_OPTION } from './import-source.ts';
import { readDescription, readKnownTasks } from './known-tasks.ts';

export const taskExportCommand: CliCommand = {
  examples: ['baton task export --to markdown', 'baton task export -o .taskmaster/tasks/tasks.json'],
  args: [],
  options: [
    {
      name: 'to',
      value: 'FORMAT',
      about: 'markdown, task-master, beads or github; left out: that of the file, else markdown',
    },
    { name: 'output', short: 'o', value: 'FILE', about: 'Where to write it; what Baton does not know in it stays' },
    TAG_OPTION,
    ...COMMON_OPTIONS.filter(({ name }) => name !== 'json'),
  ],
  async run(given, io) {
    const to = formatOption('to', given.options.get('to'));
    if ('usage' in to) {
      io.err(`Error: ${printable(to.usage)}\nTry: baton task export --help\n`);
      return EXIT.usage;
    }
    const output = given.options.get('output');
    const path = output === undefined ? undefined : resolve(io.cwd, output);
    const existing = path === undefined || !existsSync(path) ? { text: '', name: '' } : await readSource(path, io);
    if (!('text' in existing)) return reportProblems([existing], output ?? '', '', io);
    const obstacle = path === undefined ? undefined : findWriteObstacle(path);
    if (obstacle !== undefined) {
      io.err(
        `Error: ${printable(output ?? '')}: ${obstacle}\n  hint: Nothing was written. Allow it with chmod u+w, or name another file.\n`,
      );
      return EXIT.failed;
    }
    const format = to.format ?? formatOf(path, existing.text);
    return writeTasks({ format, path, shown: output ?? '', existing: existing.text }, given, io);
  },
};

/** As the file is, else as its name says. */
function formatOf(path: string | undefined, existing: string): FormatName {
  const recognised = existing.trim() === '' ? undefined : findFormat(existing);
  if (recognised !== undefined) return recognised;
  if (path?.endsWith('.jsonl') === true) return 'beads';
  return path?.endsWith('tasks.json') === true ? 'task-master' : 'markdown';
}

interface ExportTarget {
  readonly format: FormatName;
  readonly path: string | undefined;
  readonly shown: string;
  readonly existing: string;
}

async function writeTasks(
  { format, path, shown, existing }: ExportTarget,
  given: ParsedArguments,
  io: Io,
): Promise<number> {
  return withClient(given, io, async (client) => {
    const known = await readKnownTasks(client);
    if (!known.ok) return reportError(known.error, given, io);
    const repository = await findRepository(resolve(io.cwd, given.options.get('project') ?? '.'));
    const top = repository.ok ? repository.value.mainTop : io.cwd;
    const tasks = known.tasks.map((task) => ({ ...task, description: readDescription(top, task.id) }));
    const tag = given.options.get('tag');
    const at = new Date().toISOString();
    const rendered = FORMATS[format].render(tasks, { existing, at, ...(tag === undefined ? {} : { tag }) });
    if (!rendered.ok) return reportProblems(rendered.problems, shown, existing, io);
    // Whoever reads what is said may go away in the middle of it, and that ends the command: the file comes first.
    if (path !== undefined) replaceFile(path, rendered.value.text);
    printNotices(rendered.value.notices, io);
    if (path === undefined) io.out(rendered.value.text);
    else
      io.out(
        `${printable(shown)}: ${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'} as ${FORMATS[format].title}\n`,
      );
    return EXIT.ok;
  });
}

function printNotices(notices: readonly Notice[], io: Io): void {
  for (const { message } of notices.slice(0, MAX_NOTICES)) io.err(`note: ${printable(message)}\n`);
  if (notices.length > MAX_NOTICES) io.err(`note: and ${notices.length - MAX_NOTICES} more\n`);
}

const MAX_NOTICES = 20;

/** The old file or the new one, never a part of it; a link stays a link, and who may read it may read it still. */
function replaceFile(path: string, text: string): void {
  const real = followLinks(path);
  const draft = `${real}.${process.pid}.draft`;
  try {
    writeFileSync(draft, text, { flush: true, flag: 'wx' });
    if (existsSync(real)) chmodSync(draft, statSync(real).mode & 0o7777);
    renameSync(draft, real);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A file that cannot be read as what it should be is left alone. */
function reportProblems(problems: readonly Problem[], shown: string, text: string, io: Io): number {
  for (const each of problems) io.err(renderProblem(each, shown, text));
  return EXIT.failed;
}
