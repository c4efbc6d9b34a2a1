import type { TaskDiff } from '../../api/operations/task-work.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { operationCommand, pickOptions } from '../operation-command.ts';
import { colored, type Style, wantsColors } from '../status/paint.ts';
import { padTo, widthOf } from '../table.ts';
import { printable } from '../text.ts';

export const taskDiffCommand = operationCommand({
  examples: [
    'baton task diff P0.1.1',
    'baton task diff P0.1.1 --stat',
    'baton task diff P0.1.1 --file src/time.ts',
    'baton task diff P0.1.1 --session 5d0e7b41',
  ],
  args: [{ name: 'ID', about: 'The task' }],
  options: [
    { name: 'stat', about: 'Only the files, with the lines added and removed' },
    { name: 'file', value: 'PATH', about: 'Only this file or folder, from the top of the repository' },
    { name: 'session', value: 'AGENT', about: 'Only what the session of this agent changed' },
  ],
  operation: 'task_diff',
  input: (given) => ({
    value: {
      task_id: given.args[0],
      ...pickOptions(given, { file: 'path', session: 'agent_id' }),
      ...(given.options.has('stat') ? { stat: true } : {}),
    },
  }),
  show: (diff, { options }, io) =>
    renderTaskDiff(diff, { colors: wantsColors(io), stat: options.has('stat'), isOneFile: options.has('file') }),
});

export interface DiffOptions {
  readonly colors: boolean;
  readonly stat: boolean;
  /** Whether one file was requested. Its patch is then as long as the daemon sends it; git has the rest. */
  readonly isOneFile: boolean;
}

/** Escapes all texts, because paths and patches come from agents. */
export function renderTaskDiff(diff: TaskDiff, options: DiffOptions): string {
  const paint = (text: string, style: Style): string => (options.colors ? colored(text, style) : text);
  const patches = options.stat ? [] : diff.files.flatMap((file) => renderPatch(file, diff, options, paint));
  const lines = [
    paint(renderHeading(diff), 'bold'),
    ...renderFiles(diff, paint),
    ...(patches.length === 0 ? [] : ['', ...patches]),
    ...renderNotes(diff).map((note) => paint(note, 'dim')),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

type Paint = (text: string, style: Style) => string;
type DiffFile = TaskDiff['files'][number];

const OF: Readonly<Record<TaskDiff['of'], string>> = {
  branch: 'since it left the main branch',
  merge: 'as merged',
  session: 'in one session',
};

function renderHeading({ task_id, of, branch, base, head, commits, total }: TaskDiff): string {
  const place = branch === null ? '' : ` on ${branch}`;
  const counts = `${counted(commits, 'commit')}, ${counted(total.files, 'file')}, +${total.additions} -${total.deletions}`;
  return printable(`${task_id}${place} ${OF[of]}: ${counts} (${base.slice(0, 12)}..${head.slice(0, 12)})`);
}

function renderFiles({ files, total }: TaskDiff, paint: Paint): string[] {
  const names = files.map(({ path }) => printable(path));
  const width = Math.max(0, ...names.map(widthOf));
  const lines = files.map((file, i) => {
    const counts = file.binary
      ? 'binary'
      : `${paint(`+${file.additions}`, 'good')} ${paint(`-${file.deletions}`, 'bad')}`;
    return `  ${LETTERS[file.action]} ${padTo(names[i] ?? '', width)}  ${counts}`;
  });
  const left = total.files - files.length;
  return left === 0 ? lines : [...lines, `  … ${left} more files`];
}

const LETTERS: Readonly<Record<DiffFile['action'], string>> = { created: 'A', modified: 'M', deleted: 'D' };

function renderPatch(file: DiffFile, diff: TaskDiff, { isOneFile }: DiffOptions, paint: Paint): string[] {
  const lines = file.patch === null ? [] : file.patch.replace(/\n$/, '').split('\n');
  let isInHunk = false;
  const shown = lines.map((line) => {
    isInHunk = line.startsWith('@@') || (isInHunk && !line.startsWith('diff --git '));
    return paint(printable(line), isInHunk ? hunkStyle(line) : 'bold');
  });
  if (!file.cut) return shown;
  const path = shellWord(printable(file.path));
  const more = isOneFile
    ? `git diff ${diff.base} ${diff.head} -- ${path}`
    : `baton task diff ${shellWord(printable(diff.task_id))} --file ${path}`;
  const what = file.patch === null ? `${path} is left out here` : `the rest of ${path} is cut`;
  return [...shown, paint(`… ${what}; see it: ${more}`, 'call')];
}

/** Lines of a file have a prefix in a hunk, so they cannot imitate a hunk or file header. */
function hunkStyle(line: string): Style {
  if (line.startsWith('@@')) return 'busy';
  if (line.startsWith('+')) return 'good';
  return line.startsWith('-') ? 'bad' : 'plain';
}

function renderNotes({ files, worktree, of, base, head }: TaskDiff): string[] {
  const empty = base === head ? 'There is no commit to show.' : 'The commits change none of these files.';
  return [
    ...(files.length === 0 ? [empty] : []),
    ...(worktree === null || of === 'merge'
      ? []
      : [`Only commits are shown. A session works in ${printable(worktree)}, which may have uncommitted changes.`]),
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
