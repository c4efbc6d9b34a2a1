import { numberOption, operationCommand, pickOptions } from '../operation-command.ts';
import { printable } from '../text.ts';
import { renderTask, renderTasks } from './show-task.ts';

const taskArgument = { name: 'ID', about: 'The task' } as const;

export const taskListCommand = operationCommand({
  name: 'task list',
  summary: 'List tasks, oldest first',
  examples: ['baton task list --status in_progress'],
  options: [
    { name: 'status', value: 'STATUS', about: 'Only todo, in_progress, blocked, done or cancelled' },
    { name: 'phase', value: 'PHASE', about: 'Only this phase' },
    { name: 'limit', value: 'N', about: 'At most this many (100)' },
    { name: 'after', value: 'N', about: 'Only those with a larger number than this' },
  ],
  operation: 'task_list',
  input: (given) => {
    const limit = numberOption(given, 'limit');
    if ('usage' in limit) return limit;
    const after = numberOption(given, 'after');
    if ('usage' in after) return after;
    const chosen = pickOptions(given, { status: 'status', phase: 'phase' });
    return { value: { ...chosen, limit: limit.value, after_n: after.value } };
  },
  show: (result) => renderTasks(result),
});

export const taskShowCommand = operationCommand({
  name: 'task show',
  summary: 'Show one task',
  examples: ['baton task show P0.1.1'],
  args: [taskArgument],
  operation: 'task_get',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: renderTask,
});

export const taskNextCommand = operationCommand({
  name: 'task next',
  summary: 'Show what can be claimed now, the critical path first',
  examples: ['baton task next', 'baton task next --wait'],
  options: [
    { name: 'role', value: 'ROLE', about: 'Only what this role can do' },
    { name: 'limit', value: 'N', about: 'At most this many (10)' },
    { name: 'wait', about: 'Wait until there is something; you are woken, nothing is polled' },
  ],
  operation: 'task_next_actions',
  input: (given) => {
    const limit = numberOption(given, 'limit');
    if ('usage' in limit) return limit;
    const wait = given.options.has('wait') ? { wait_ms: MAX_WAIT_MS } : {};
    return { value: { ...pickOptions(given, { role: 'role' }), limit: limit.value, ...wait } };
  },
  show: (result) => renderTasks(result, 'Nothing can be claimed now. See all: baton task list'),
});

/** A day: whoever waits longer asks again. */
export const MAX_WAIT_MS = 86_400_000;

export const taskBriefCommand = operationCommand({
  name: 'task brief',
  summary: 'Everything the next agent needs to start on a task',
  examples: ['baton task brief P0.1.1'],
  args: [taskArgument],
  operation: 'task_brief',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: (result) => {
    const text = typeof result === 'object' && result !== null && 'text' in result ? String(result.text) : '';
    return `${text.split('\n').map(printable).join('\n')}\n`;
  },
});
