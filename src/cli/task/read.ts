import type { TaskDetails, TaskView } from '../../api/operations/tasks.ts';
import { numberOption, operationCommand, pickOptions } from '../operation-command.ts';
import { MAX_WAIT_MS } from '../operation-input.ts';
import { printable, printableLines, shortId } from '../text.ts';

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
  const next = `--after ${tasks.at(-1)?.n}`;
  return [
    '',
    `${tasks.length} of ${total} tasks; see the next with ${next}, or more at once with --limit N (at most 1000)`,
  ];
}

export function renderTask(task: TaskDetails): string {
  const { claim, latest_record: record, self_approval: own } = task;
  const facts: [string, string][] = [
    ['status', task.status],
    ['phase', `${task.phase}${task.next_role ? `, next: ${toText(task.next_role)}` : ''}`],
    ['claimable', task.claimable ? 'yes' : 'no'],
    ['claim', claim ? `${toText(claim.holder)}, epoch ${claim.epoch}, until ${claim.expires_at}` : ''],
    ['after', afterOf(task)],
    ['issue', toText(task.github_issue)],
    ['progress', task.progress === null ? '' : `${task.progress} %`],
    ['notes', toText(task.notes)],
    [task.status === 'cancelled' ? 'cancelled' : 'blocked', reasonOf(task)],
    // Changes to these paths need an approval before the merge.
    ['protected', task.protected_paths.map(toText).join(', ')],
    ...decisionsOf(task),
    ['record', record ? `${toText(record.commit_sha)} on ${toText(record.branch)}` : ''],
    ['summary', toText(record?.summary)],
    ['authors', task.authors.map(toText).join(', ')],
    ['approved', own ? `${toText(own.head).slice(0, 12)} by its author ${toText(own.by)}: ${toText(own.reason)}` : ''],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(9)}  ${value}`);
  const endings = task.endings.map(({ at, holder, how, reason }) =>
    `  ended      ${at} ${toText(holder)}: ${howEnded(how, toText(reason))}`.trimEnd(),
  );
  const head = `${toText(task.id)} (number ${task.n})  ${toText(task.title)}`;
  return `${[head, ...lines, ...endings, ...describedLines(task)].join('\n')}\n`;
}

function describedLines({ description }: TaskDetails): string[] {
  if (description === null) return [];
  const lines = printableLines(description).split('\n');
  return ['', ...lines.map((line) => (line === '' ? '' : `  ${line}`))];
}

function afterOf({ after, waits_for }: TaskDetails): string {
  const open = new Map(waits_for.map((each) => [each.task_id, statusOf(each)]));
  return after.map((id) => (open.has(id) ? `${toText(id)} (${open.get(id)})` : toText(id))).join(', ');
}

function statusOf(task: Pick<TaskView, 'status' | 'blocked_because'>): string {
  return task.blocked_because === null ? task.status : `${task.status}: ${reasonOf(task)}`;
}

/** The status already shows that a task is cancelled. */
function reasonOf({ status, blocked_because: because }: Pick<TaskView, 'status' | 'blocked_because'>): string {
  return status === 'cancelled' ? toText(because).replace(/^cancelled: /, '') : toText(because);
}

function decisionsOf({ decision_ids: ids }: TaskDetails): [string, string][] {
  return ids.map((id) => ['decide', `baton decision show ${shortId(toText(id))}`]);
}

/** Some reasons already begin with how the claim ended. */
function howEnded(how: string, reason: string): string {
  return reason.startsWith(how) ? reason : `${how} ${reason}`;
}

/** Returns undefined if the task can be claimed. */
export function whyNobodyClaims(task: TaskDetails): string | undefined {
  const { claimable, claim, status, phase, waits_for } = task;
  if (claimable) return undefined;
  const id = toText(task.id);
  if (claim) return `${id} is claimed by ${toText(claim.holder)}.`;
  if (status === 'cancelled')
    return `${id} is ${toText(task.blocked_because)}. Reinstate it: baton task reinstate ${id} --reason "…"`;
  if (status === 'blocked')
    return `${id} is blocked (${toText(task.blocked_because)}). Unblock it: baton task unblock ${id} --reason "…"`;
  const [decision] = decisionsOf(task);
  if (decision !== undefined) return `a person is asked about ${id}: ${decision[1]}`;
  const open = waits_for.map((each) => `${toText(each.task_id)} (${statusOf(each)})`);
  return open.length === 0 ? `${id} is in ${phase}.` : `${id} comes after ${open.join(', ')}.`;
}

function toText(value: string | null | undefined): string {
  return printable((value ?? '').replace(/\s+/g, ' '));
}

const taskArgument = { name: 'ID', about: 'The task' } as const;

export const taskListCommand = operationCommand({
  examples: ['baton task list --status in_progress'],
  options: [
    { name: 'status', value: 'STATUS', about: 'Only todo, in_progress, blocked, done or cancelled' },
    { name: 'phase', value: 'PHASE', about: 'Only this phase' },
    { name: 'limit', value: 'N', about: 'At most this many (100)' },
    { name: 'after', value: 'N', about: 'Only tasks with a larger number' },
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
  examples: ['baton task show P0.1.1'],
  args: [taskArgument],
  operation: 'task_get',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: renderTask,
});

export const taskNextCommand = operationCommand({
  examples: ['baton task next', 'baton task next --wait'],
  options: [
    { name: 'role', value: 'ROLE', about: 'Only tasks for this role' },
    { name: 'limit', value: 'N', about: 'At most this many (10)' },
    { name: 'wait', about: 'Wait until a task can be claimed' },
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

export const taskBriefCommand = operationCommand({
  examples: ['baton task brief P0.1.1'],
  args: [taskArgument],
  operation: 'task_brief',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: ({ text }) => `${printableLines(text)}\n`,
});
