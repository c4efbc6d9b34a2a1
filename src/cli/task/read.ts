import type { TaskView } from '../../api/operations/tasks.ts';
import { PHASES } from '../../protocol/phase.ts';
import { SHOWN_STATUSES } from '../../protocol/shape/shared-fields.ts';
import type { CliCommand } from '../command.ts';
import { operationCommand, pickOptions, wholeOption } from '../operation-command.ts';
import { MAX_WAIT_MS } from '../operation-input.ts';
import { columnsOf, lookOf } from '../status/paint.ts';
import { renderTable } from '../table.ts';
import { printableLines } from '../text.ts';
import { renderTaskView } from '../view/render-task-view.ts';
import { noteUnknownRole } from './note-role.ts';

/** Escapes all texts, because no text of a task is trusted. */
export function renderTasks(
  { tasks, total = tasks.length }: { readonly tasks: readonly TaskView[]; readonly total?: number },
  nothing = 'No tasks.',
  columns = Infinity,
): string {
  if (tasks.length === 0) return `${nothing}\n`;
  const rest = renderRest(tasks, total).map((line) => `${line}\n`);
  return `${renderTable([HEADER, ...tasks.map(rowOf)], columns)}${rest.join('')}`;
}

const MOST_LISTED = 1000;
const HEADER = ['ID', 'STATUS', 'PHASE', 'HOLDER', 'TITLE'] as const;

function rowOf({ id, status, phase, claim, title }: TaskView): string[] {
  return [id, status, phase, claim?.holder ?? '-', title];
}

/** Names the option that continues a truncated list, because no column shows the serial numbers. */
function renderRest(tasks: readonly TaskView[], total: number): string[] {
  if (total <= tasks.length) return [];
  const next = `--after-number ${tasks.at(-1)?.n}`;
  return [
    '',
    `${tasks.length} of ${total} tasks; see the next with ${next}, or more at once with --limit N (at most ${MOST_LISTED})`,
  ];
}

const taskArgument = { name: 'ID', about: 'The task' } as const;

export const taskListCommand = operationCommand({
  examples: ['baton task list --status in_progress'],
  options: [
    { name: 'status', value: 'STATUS', choices: SHOWN_STATUSES, about: `Only ${SHOWN_STATUSES.join(', ')}` },
    { name: 'phase', value: 'PHASE', choices: PHASES, about: `Only ${PHASES.join(', ')}` },
    { name: 'limit', value: 'N', about: 'At most this many, up to 1000 (default: 100)' },
    { name: 'after-number', value: 'N', formerly: ['--after'], about: 'Only tasks with a larger number' },
  ],
  operation: 'task_list',
  input: (given) => {
    const limit = wholeOption(given, 'limit', { from: 1, to: MOST_LISTED });
    if ('usage' in limit) return limit;
    const after = wholeOption(given, 'after-number', { from: 0 });
    if ('usage' in after) return after;
    const chosen = pickOptions(given, { status: 'status', phase: 'phase' });
    return { value: { ...chosen, limit: limit.value, after_n: after.value } };
  },
  show: (result, _given, io) => renderTasks(result, undefined, columnsOf(io)),
});

export const taskShowCommand: CliCommand = {
  ...operationCommand({
    examples: ['baton task show P0.1.1'],
    args: [taskArgument],
    operation: 'task_view',
    input: ({ args: [task_id] }) => ({ value: { task_id } }),
    show: (view, _, io) => `${renderTaskView(view, lookOf(io)).join('\n')}\n`,
  }),
  // The tool that a hint names to an agent. It has the part of the view that agents need.
  operation: 'task_get',
};

export const taskNextCommand = operationCommand({
  examples: ['baton task next', 'baton task next --wait'],
  options: [
    { name: 'role', value: 'ROLE', about: 'Only tasks for this role' },
    { name: 'limit', value: 'N', about: 'At most this many, up to 100 (default: 10)' },
    { name: 'wait', about: 'Wait until a task can be claimed' },
  ],
  operation: 'task_next_actions',
  input: async (given, io) => {
    const limit = wholeOption(given, 'limit', { from: 1, to: 100 });
    if ('usage' in limit) return limit;
    await noteUnknownRole(given, io);
    const wait = given.options.has('wait') ? { wait_ms: MAX_WAIT_MS } : {};
    return { value: { ...pickOptions(given, { role: 'role' }), limit: limit.value, ...wait } };
  },
  show: (result, _given, io) =>
    renderTasks(result, 'Nothing can be claimed now. See all: baton task list', columnsOf(io)),
});

export const taskBriefCommand = operationCommand({
  examples: ['baton task brief P0.1.1'],
  args: [taskArgument],
  operation: 'task_brief',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: ({ text }) => `${printableLines(text)}\n`,
});
