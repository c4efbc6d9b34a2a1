import { numberOption, operationCommand, pickOptions } from '../operation-command.ts';
import { type Fields, listIn, shortId } from '../run/views.ts';
import { printable } from '../text.ts';

/** What comes back about a task, as far as it is shown. All of it is somebody's text, and none of it is trusted. */
interface TaskFields {
  readonly id?: unknown;
  readonly n?: unknown;
  readonly title?: unknown;
  readonly status?: unknown;
  readonly phase?: unknown;
  readonly claimable?: unknown;
  readonly next_role?: unknown;
  readonly after?: unknown;
  /** Those of `after` that are not done. */
  readonly waits_for?: unknown;
  readonly decision_ids?: unknown;
  readonly progress?: unknown;
  readonly notes?: unknown;
  readonly blocked_because?: unknown;
  readonly protected_paths?: unknown;
  readonly claim?: { readonly holder?: unknown; readonly epoch?: unknown; readonly expires_at?: unknown } | null;
  /** The principals that worked on it. */
  readonly authors?: unknown;
  readonly self_approval?: { readonly by?: unknown; readonly head?: unknown; readonly reason?: unknown } | null;
  readonly endings?: readonly {
    readonly how?: unknown;
    readonly holder?: unknown;
    readonly at?: unknown;
    readonly reason?: unknown;
  }[];
  readonly latest_record?: {
    readonly summary?: unknown;
    readonly commit_sha?: unknown;
    readonly branch?: unknown;
  } | null;
}

export function renderTasks(result: unknown, nothing = 'No tasks.'): string {
  const tasks = tasksOf(result);
  if (tasks.length === 0) return `${nothing}\n`;
  const rows = [HEADER, ...tasks.map(rowOf)];
  const widths = HEADER.slice(0, -1).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  '));
  return [...lines.map((line) => line.trimEnd()), ...renderRest(result, tasks)].map((line) => `${line}\n`).join('');
}

const HEADER = ['ID', 'STATUS', 'PHASE', 'HOLDER', 'TITLE'] as const;

function rowOf(task: TaskFields): string[] {
  return [toText(task.id), toText(task.status), toText(task.phase), holderOf(task), toText(task.title)];
}

/** A list that ends early says so, and where it goes on: the numbers of tasks are in no column. */
function renderRest(result: unknown, tasks: readonly TaskFields[]): string[] {
  const shown = tasks.length;
  const total = typeof result === 'object' && result !== null && 'total' in result ? Number(result.total) : shown;
  if (total <= shown) return [];
  const next = `--after ${toText(tasks.at(-1)?.n)}`;
  return ['', `${shown} of ${total} tasks; see the next with ${next}, or more at once with --limit N (at most 1000)`];
}

export function renderTask(result: unknown): string {
  const task = toTaskFields(result);
  const facts: [string, string][] = [
    ['status', toText(task.status)],
    ['phase', `${toText(task.phase)}${task.next_role ? `, next: ${toText(task.next_role)}` : ''}`],
    ['claimable', task.claimable === true ? 'yes' : 'no'],
    [
      'claim',
      task.claim
        ? `${toText(task.claim.holder)}, epoch ${toText(task.claim.epoch)}, until ${toText(task.claim.expires_at)}`
        : '',
    ],
    ['after', afterOf(task)],
    ['progress', task.progress === null || task.progress === undefined ? '' : `${toText(task.progress)} %`],
    ['notes', toText(task.notes)],
    [task.status === 'cancelled' ? 'cancelled' : 'blocked', reasonOf(task)],
    ['protected', protectedOf(task)],
    ...decisionsOf(task),
    [
      'record',
      task.latest_record ? `${toText(task.latest_record.commit_sha)} on ${toText(task.latest_record.branch)}` : '',
    ],
    ['summary', toText(task.latest_record?.summary)],
    ['authors', Array.isArray(task.authors) ? task.authors.map(toText).join(', ') : ''],
    ['approved', selfApprovalOf(task)],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(9)}  ${value}`);
  const endings = (task.endings ?? []).map((end) =>
    `  ended      ${toText(end.at)} ${toText(end.holder)}: ${howEnded(toText(end.how), toText(end.reason))}`.trimEnd(),
  );
  return `${[`${toText(task.id)} (number ${toText(task.n)})  ${toText(task.title)}`, ...lines, ...endings].join('\n')}\n`;
}

/** The paths that make a person be asked before the merge. */
function protectedOf({ protected_paths: paths }: TaskFields): string {
  return Array.isArray(paths) ? paths.map(toText).join(', ') : '';
}

/** A person approved a change of their own. */
function selfApprovalOf({ self_approval: own }: TaskFields): string {
  return own ? `${toText(own.head).slice(0, 12)} by its author ${toText(own.by)}: ${toText(own.reason)}` : '';
}

/** What it comes after; of those that are not done also how they stand. */
function afterOf({ after, waits_for }: TaskFields): string {
  const open = new Map(listIn(waits_for).map((each) => [toText(each['task_id']), standingOf(each)]));
  const ids = Array.isArray(after) ? after.map(toText) : [];
  return ids.map((id) => (open.has(id) ? `${id} (${open.get(id)})` : id)).join(', ');
}

function standingOf({ status, blocked_because: because }: Fields): string {
  if (because === null || because === undefined) return toText(status);
  return `${toText(status)}: ${reasonOf({ status, blocked_because: because })}`;
}

/** A cancelled task says so by its status. */
function reasonOf({ status, blocked_because: because }: Pick<TaskFields, 'status' | 'blocked_because'>): string {
  return status === 'cancelled' ? toText(because).replace(/^cancelled: /, '') : toText(because);
}

function decisionsOf({ decision_ids: ids }: TaskFields): [string, string][] {
  return Array.isArray(ids) ? ids.map((id) => ['decide', `baton decision show ${shortId(toText(id))}`]) : [];
}

/** A reason that says how it ended says enough. */
function howEnded(how: string, reason: string): string {
  return reason.startsWith(how) ? reason : `${how} ${reason}`;
}

/** Why a task cannot be claimed now, and where to look; undefined where it can. */
export function whyNobodyClaims(result: unknown): string | undefined {
  const task = toTaskFields(result);
  if (task.claimable === true) return undefined;
  const id = toText(task.id);
  if (task.claim) return `${id} is claimed by ${toText(task.claim.holder)}.`;
  if (task.status === 'cancelled')
    return `${id} is ${toText(task.blocked_because)}. Take it up again: baton task reinstate ${id} --reason "…"`;
  if (task.status === 'blocked')
    return `${id} is blocked (${toText(task.blocked_because)}). Set it going: baton task unblock ${id} --reason "…"`;
  const [decision] = decisionsOf(task);
  if (decision !== undefined) return `a person is asked about ${id}: ${decision[1]}`;
  const open = listIn(task.waits_for).map((each) => `${toText(each['task_id'])} (${standingOf(each)})`);
  return open.length === 0 ? `${id} is in ${toText(task.phase)}.` : `${id} comes after ${open.join(', ')}.`;
}

function tasksOf(result: unknown): readonly TaskFields[] {
  const tasks = typeof result === 'object' && result !== null && 'tasks' in result ? result.tasks : [];
  return Array.isArray(tasks) ? tasks.map(toTaskFields) : [];
}

function toTaskFields(value: unknown): TaskFields {
  return typeof value === 'object' && value !== null ? value : {};
}

function holderOf({ claim }: TaskFields): string {
  return claim ? toText(claim.holder) : '-';
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return printable(typeof value === 'string' ? value.replace(/\s+/g, ' ') : JSON.stringify(value));
}

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
