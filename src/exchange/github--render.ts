import { accepted, type Parsed } from '../protocol/shape/problem.ts';
import type { ExportOptions } from './format.ts';
import { isRawObject, parseRawJson, rawList, type RawObject } from './json.ts';
import type { ExchangedTask, Notice, ExportedText, TaskStatus } from './task.ts';
import { isBegunLabel, isBlockedLabel } from './labels.ts';
import { parseGithubIssues } from './github.ts';
import { findReferences } from './references.ts';

/** The JSON of `gh issue list`. Only what GitHub has numbered can be held: tasks with another id are left out, and named. */
export function renderGithubIssues(
  tasks: readonly ExchangedTask[],
  { existing = '' }: ExportOptions,
): Parsed<ExportedText> {
  const read = existing.trim() === '' ? undefined : parseGithubIssues(existing);
  if (read?.ok === false && read.problems[0].code !== 'import/no-tasks') return read;
  const issues = read === undefined ? [] : rawList(parseRawJson(existing));
  const byNumber = new Map(issues.map((issue) => [String(issue['number']), issue]));
  const notices: Notice[] = [];
  for (const task of tasks) {
    if (!isNumber(task.id)) {
      notices.push({ message: `${task.id} is left out: it has no number on GitHub`, line: null });
      continue;
    }
    const issue = byNumber.get(task.id) ?? {
      number: Number(task.id),
      title: '',
      body: task.description,
      state: '',
      labels: [],
    };
    if (!byNumber.has(task.id)) issues.push(issue);
    notices.push(...write(issue, task));
  }
  return accepted({ text: `${JSON.stringify(issues, null, 2)}\n`, notices });
}

/** As large as a number can be without losing its last digits. */
function isNumber(id: string): boolean {
  return /^[1-9]\d{0,14}$/.test(id);
}

const CLOSED: ReadonlyMap<TaskStatus, { readonly state: string; readonly reason: string }> = new Map([
  ['done', { state: 'CLOSED', reason: 'COMPLETED' }],
  ['cancelled', { state: 'CLOSED', reason: 'NOT_PLANNED' }],
]);

function write(issue: RawObject, task: ExchangedTask): Notice[] {
  issue['title'] = task.title;
  const { state, reason } = CLOSED.get(task.status) ?? { state: 'OPEN', reason: '' };
  issue['state'] = state;
  // Without it a closed issue counts as done.
  if ('stateReason' in issue || task.status === 'cancelled') issue['stateReason'] = reason;
  issue['labels'] = labels(issue['labels'], task);
  const body = typeof issue['body'] === 'string' ? issue['body'] : '';
  const said = new Set(findReferences(body));
  const missing = task.after.filter((id) => isNumber(id) && !said.has(id));
  // At the top: at the end, code that was never closed would swallow it.
  const words = missing.map((id) => `Blocked by #${id}\n`).join('');
  if (missing.length > 0) issue['body'] = body === '' ? words.trimEnd() : `${words}\n${body}`;
  return task.after
    .filter((id) => !isNumber(id))
    .map((id) => ({ message: `${task.id} waits for ${id}, which has no number on GitHub: left out`, line: null }));
}

/** The label of its status, and every other that is there. */
function labels(before: unknown, { status: wants }: ExchangedTask): unknown[] {
  const all: unknown[] = Array.isArray(before) ? before : [];
  const named = (fits: (name: string) => boolean) => (label: unknown) =>
    isRawObject(label) && fits(String(label['name']));
  const kept = all.filter(
    (label) =>
      (wants === 'blocked' || !named(isBlockedLabel)(label)) &&
      (wants === 'in_progress' || !named(isBegunLabel)(label)),
  );
  if (wants === 'blocked' && !kept.some(named(isBlockedLabel))) return [...kept, { name: 'blocked' }];
  return wants === 'in_progress' && !kept.some(named(isBegunLabel)) ? [...kept, { name: 'in progress' }] : kept;
}
