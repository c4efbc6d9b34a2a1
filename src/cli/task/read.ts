import type { TaskView } from '../../api/operations/tasks.ts';
import type { CliCommand } from '../command.ts';
import { numberOption, operationCommand, pickOptions } from '../operation-command.ts';
import { MAX_WAIT_MS } from '../operation-input.ts';
import { lookOf } from '../status/paint.ts';
import { printableLines } from '../text.ts';
import { renderTaskView } from '../view/render-task-view.ts';
import { toText } from './describe-task.ts';
import { noteUnknownRole } from './note-role.ts';

/** No text of a task is trusted. */
export function renderTasks(
  { tasks, total = tasks.length }: { readonly tasks: readonly TaskView[]; readonly total?: number },
  nothing = 'No tasks.',
): string {
  if (tasks.length === 0) return `${nothing}\n`;
  const rows = [HEADER, ...tasks.map(rowOf)];
  const widths = HEADER.slice(0, -1).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  return [...lines.map((line) => line.trimEnd()), ...renderRest(tasks, total)].map((line) => `${line}\n`).join('');
}

const HEADER = ['ID', 'STATUS', 'PHASE', 'HOLDER', 'TITLE'] as const;

function rowOf({ id, status, phase, claim, title }: TaskView): string[] {
  return [toText(id), status, phase, claim === null ? '-' : toText(claim.holder), toText(title)];
}

/** The option that continues a cut list: no column has the serial numbers. */
function renderRest(tasks: readonly TaskView[], total: number): string[] {
  if (total <= tasks.length) return [];
  const next = `--after-number ${tasks.at(-1)?.n}`;
  return [
    '',
    `${tasks.length} of ${total} tasks; see the next with ${next}, or more at once with --limit N (at most 1000)`,
  ];
}

const taskArgument = { name: 'ID', about: 'The task' } as const;

export const taskListCommand = operationCommand({
  examples: ['baton task list --status in_progress'],
  options: [
    { name: 'status', value: 'STATUS', about: 'Only todo, in_progress, blocked, done or cancelled' },
    { name: 'phase', value: 'PHASE', about: 'Only this phase' },
    { name: 'limit', value: 'N', about: 'At most this many (default: 100)' },
    { name: 'after-number', value: 'N', formerly: ['--after'], about: 'Only tasks with a larger number' },
  ],
  operation: 'task_list',
  input: (given) => {
    const limit = numberOption(given, 'limit');
    if ('usage' in limit) return limit;
    const after = numberOption(given, 'after-number');
    if ('usage' in after) return after;
    const chosen = pickOptions(given, { status: 'status', phase: 'phase' });
    return { value: { ...chosen, limit: limit.value, after_n: after.value } };
  },
  show: (result) => renderTasks(result),
});

export const taskShowCommand: CliCommand = {
  ...operationCommand({
    examples: ['baton task show P0.1.1'],
    args: [taskArgument],
    operation: 'task_view',
    input: ({ args: [task_id] }) => ({ value: { task_id } }),
    show: (view, _, io) => `${renderTaskView(view, lookOf(io)).join('\n')}\n`,
  }),
  // The tool that a hint names to an agent: it has the part of the view that agents need.
  operation: 'task_get',
};

export const taskNextCommand = operationCommand({
  examples: ['baton task next', 'baton task next --wait'],
  options: [
    { name: 'role', value: 'ROLE', about: 'Only tasks for this role' },
    { name: 'limit', value: 'N', about: 'At most this many (default: 10)' },
    { name: 'wait', about: 'Wait until a task can be claimed' },
  ],
  operation: 'task_next_actions',
  input: async (given, io) => {
    const limit = numberOption(given, 'limit');
    if ('usage' in limit) return limit;
    await noteUnknownRole(given, io);
    const wait = given.options.has('wait') ? { wait_ms: MAX_WAIT_MS } : {};
    return { value: { ...pickOptions(given, { role: 'role' }), limit: limit.value, ...wait } };
  },
  show: (result) => renderTasks(result, 'Nothing can be claimed now. See all: baton task list'),
});

export const taskBriefCommand = operationCommand({
  examples: ['baton task brief P0.1.1'],
  args: [taskArgument],
  operation: 'task_brief',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: ({ text }) => `${printableLines(text)}\n`,
});
