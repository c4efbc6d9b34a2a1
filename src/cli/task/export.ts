import { chmodSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { findFormat, FORMATS } from '../../exchange/formats.ts';
import { FORMAT_NAMES, type FormatName, type Notice } from '../../exchange/task.ts';
import { findRepository } from '../../git/repository.ts';
import { findWriteObstacle, followLinks } from '../../hooks/files/file-text.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { renderProblem, reportProblem } from '../problems.ts';
import { printable } from '../text.ts';
import { findFormatName, readSource, TAG_OPTION } from './import-source.ts';
import { readDescription, readDescriptions, readKnownTasks } from './known-tasks.ts';

export const taskExportCommand: CliCommand = {
  examples: ['baton task export --to markdown', 'baton task export -o .taskmaster/tasks/tasks.json'],
  args: [],
  options: [
    {
      name: 'to',
      value: 'FORMAT',
      choices: FORMAT_NAMES,
      about: `${FORMAT_NAMES.join(', ')} (default: that of the file, or markdown)`,
    },
    { name: 'output', short: 'o', value: 'FILE', about: 'The file to write; content that Baton does not know is kept' },
    TAG_OPTION,
    ...COMMON_OPTIONS.filter(({ name }) => name !== 'json'),
  ],
  async run(given, io) {
    const output = given.options.get('output');
    const path = output === undefined ? undefined : resolve(io.cwd, output);
    const existing = path === undefined || !existsSync(path) ? { text: '', name: '' } : await readSource(path, io);
    if (!('text' in existing)) return reportProblems([existing], output ?? '', '', io);
    const obstacle = path === undefined ? undefined : findWriteObstacle(path);
    if (obstacle !== undefined) {
      const hint = 'Nothing was written. Make the file writable with chmod u+w, or name another file.';
      return reportProblem({ code: 'cannot-write', message: `${output ?? ''}: ${obstacle}`, hint }, io);
    }
    const format = findFormatName(given.options.get('to')) ?? formatOf(path, existing.text);
    return writeTasks({ format, path, shown: output ?? '', existing: existing.text }, given, io);
  },
};

/** The format of the content, or else of the file name. */
function formatOf(path: string | undefined, existing: string): FormatName {
  const recognised = existing.trim() === '' ? undefined : findFormat(existing);
  if (recognised !== undefined) return recognised;
  if (path?.endsWith('.jsonl') === true) return 'beads';
  return path?.endsWith('tasks.json') === true ? 'task-master' : 'markdown';
}

async function writeTasks(
  { format, path, shown, existing }: { format: FormatName; path: string | undefined; shown: string; existing: string },
  given: ParsedArguments,
  io: Io,
): Promise<number> {
  return withClient(given, io, async (client) => {
    const known = await readKnownTasks(client);
    if (!known.ok) return reportError(known.error, given, io);
    const repository = await findRepository(resolve(io.cwd, given.options.get('project') ?? '.'));
    const top = repository.ok ? repository.value.mainTop : io.cwd;
    const recorded = await readDescriptions(client);
    if (!recorded.ok) return reportError(recorded.error, given, io);
    const tasks = known.tasks.map((task) => ({
      ...task,
      description: readDescription(top, task.id) || (recorded.texts.get(task.id) ?? ''),
    }));
    const tag = given.options.get('tag');
    const at = new Date().toISOString();
    const rendered = FORMATS[format].render(tasks, { existing, at, ...(tag === undefined ? {} : { tag }) });
    if (!rendered.ok) return reportProblems(rendered.problems, shown, existing, io);
    // The file is written first, because a closed pipe ends the command at its first output.
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

/** Replaces the file atomically, and keeps links and permissions. */
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

function reportProblems(problems: readonly Problem[], shown: string, text: string, io: Io): number {
  for (const each of problems) io.err(renderProblem(each, shown, text, io));
  return EXIT.failed;
}
