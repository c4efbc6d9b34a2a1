import { accepted, type Parsed } from '../protocol/shape/problem.ts';
import type { ObjectNode } from '../protocol/text/node.ts';
import { type FoundTask, type ImportFindings, startReading } from './findings.ts';
import {
  findFieldText,
  findList,
  isRawObject,
  objectsIn,
  parseJsonAt,
  parseRawJson,
  rawList,
  type RawObject,
} from './json.ts';
import { refuseWithProblems, resolveTasks } from './resolve-tasks.ts';
import {
  type ExchangedTask,
  type ExportedText,
  type ExportOptions,
  type GithubIssueRef,
  type ImportedTasks,
  type ImportOptions,
  type Notice,
  readExisting,
  type TaskStatus,
} from './task.ts';

/**
 * Reads the output of `gh issue list --json number,title,body,state,labels,url`. `stateReason` and `url` are optional.
 */
export function parseGithubIssues(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const list = parseJsonAt(findings.text, 0, findings);
  if (list !== undefined && list.kind !== 'list') {
    findings.problem(
      'import/not-github',
      'not the output of `gh issue list --json`: the input is not a list',
      list.at,
      HINT,
    );
  }
  if (list?.kind !== 'list') return refuseWithProblems(findings);
  const found = objectsIn(list, 'an issue', findings).flatMap((node) => readIssue(node, findings) ?? []);
  return resolveTasks(found, findings, options);
}

const HINT = 'Try: gh issue list --state all --limit 1000 --json number,title,body,state,labels,url';

function readIssue(node: ObjectNode, findings: ImportFindings): FoundTask | undefined {
  const id = findFieldText(node, 'number');
  if (id === undefined || !/^[1-9]\d{0,17}$/.test(id)) {
    findings.problem('import/no-id', 'an issue without a number', node.at, HINT);
    return undefined;
  }
  const body = findFieldText(node, 'body') ?? '';
  const names = objectsIn(findList(node, 'labels'), 'a label', findings).map(
    (label) => findFieldText(label, 'name') ?? '',
  );
  const { isBlocked, isBegun, priority } = parseLabels(names);
  const isClosed = findFieldText(node, 'state')?.toUpperCase() === 'CLOSED';
  const isDropped = isClosed && findFieldText(node, 'stateReason')?.toUpperCase() === 'NOT_PLANNED';
  const githubIssue = findAddress(node, id);
  const open = isBlocked ? 'blocked' : isBegun ? 'in_progress' : 'todo';
  return {
    id,
    title: findFieldText(node, 'title') ?? '',
    description: body.replaceAll('\r\n', '\n').trim(),
    status: isDropped ? 'cancelled' : isClosed ? 'done' : open,
    reason: isDropped ? 'closed as not planned on GitHub' : 'blocked on GitHub',
    priority,
    after: findReferences(body).map((number) => ({ id: number, at: node.at, isLoose: true })),
    at: node.at,
    ...(githubIssue === undefined ? {} : { githubIssue }),
  };
}

/** The `url` of `gh`, or the `html_url` of GitHub's API. */
function findAddress(node: ObjectNode, id: string): GithubIssueRef | undefined {
  const url = findFieldText(node, 'url') ?? '';
  const [, host = '', path = '', number] =
    ADDRESS.exec(url) ?? ADDRESS.exec(findFieldText(node, 'html_url') ?? '') ?? [];
  if (number !== id) return undefined;
  return {
    repository: host.toLowerCase() === 'github.com' ? path : `${host.toLowerCase()}/${path}`,
    number: Number(id),
  };
}

const ADDRESS = /^https:\/\/([A-Za-z0-9][A-Za-z0-9.-]*)\/([\w.-]{1,100}\/[\w.-]{1,100})\/issues\/([1-9]\d{0,14})$/;

/** Writes the JSON of `gh issue list`. Tasks whose id is not a GitHub number are skipped with a notice. */
export function renderGithubIssues(
  tasks: readonly ExchangedTask[],
  { existing = '' }: ExportOptions,
): Parsed<ExportedText> {
  const isNew = existing.trim() === '';
  const read = readExisting(isNew ? undefined : parseGithubIssues(existing));
  if (!read.ok) return read;
  const issues = isNew ? [] : rawList(parseRawJson(existing));
  const byNumber = new Map(issues.map((issue) => [String(issue['number']), issue]));
  const notices: Notice[] = [];
  for (const task of tasks) {
    if (!isNumber(task.id)) {
      notices.push({ message: `${task.id} is skipped: it has no number on GitHub`, line: null });
      continue;
    }
    const created = { number: Number(task.id), title: '', body: task.description, state: '', labels: [] };
    const issue = byNumber.get(task.id) ?? created;
    if (!byNumber.has(task.id)) issues.push(issue);
    notices.push(...write(issue, task));
  }
  return accepted({ text: `${JSON.stringify(issues, null, 2)}\n`, notices });
}

/** Refuses numbers above the largest safe integer. */
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
  // A closed issue without a reason counts as done.
  if ('stateReason' in issue || task.status === 'cancelled') issue['stateReason'] = reason;
  issue['labels'] = labels(issue['labels'], task);
  const body = typeof issue['body'] === 'string' ? issue['body'] : '';
  const named = new Set(findReferences(body));
  const missing = task.after.filter((id) => isNumber(id) && !named.has(id));
  // Added at the top, because an unclosed code block could contain the end.
  const words = missing.map((id) => `Blocked by #${id}\n`).join('');
  if (missing.length > 0) issue['body'] = body === '' ? words.trimEnd() : `${words}\n${body}`;
  return task.after
    .filter((id) => !isNumber(id))
    .map((id) => ({ message: `${task.id} waits for ${id}, which has no number on GitHub: skipped`, line: null }));
}

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

/** Reads common label forms: `blocked`, `in progress`, `priority: high`, `P1`. */
function parseLabels(names: readonly string[]) {
  const words = names.map((name) => name.toLowerCase().trim());
  return {
    isBlocked: words.some(isBlockedLabel),
    isBegun: words.some(isBegunLabel),
    priority: words.map(priorityOf).find((priority) => priority !== undefined) ?? 0,
  };
}

function isBlockedLabel(name: string): boolean {
  return /^(?:status\s*[:/]\s*)?blocked$/i.test(name);
}

function isBegunLabel(name: string): boolean {
  return /^(?:status\s*[:/]\s*)?(?:in[ _-]progress|wip|doing)$/i.test(name);
}

function priorityOf(name: string): number | undefined {
  const level = /^p([0-4])$/.exec(name)?.[1];
  if (level !== undefined) return (2 - Number(level)) * 10;
  const word = /^(?:priority\s*[:/ -]\s*)(\w+)$/.exec(name)?.[1];
  return word === undefined ? undefined : WORDS.get(word);
}

const WORDS: ReadonlyMap<string, number> = new Map(
  Object.entries({ critical: 20, urgent: 20, high: 10, medium: 0, normal: 0, low: -10 }),
);

/** `blocked by #12`, `depends on #3, #4 and #5`, `after #7`, and task list items. Skips code and other repositories. */
function findReferences(body: string): string[] {
  const prose = withoutCode(body);
  const numbers = [...prose.matchAll(REFERENCE_PHRASE)].flatMap(([phrase]) => [
    ...phrase.matchAll(/#([1-9]\d{0,17})\b/g),
  ]);
  const listed = [...prose.matchAll(LISTED)];
  return [...new Set([...numbers, ...listed].map((match) => match[1] ?? ''))];
}

const REFERENCE_PHRASE =
  /\b(?:blocked by|depends on|depends upon|requires|waits for|after):?\s*#\d+\b(?:\s*(?:,|and|&|,\s*and)\s*#\d+\b)*/gi;
const LISTED = /^[ \t]*[-*+] \[[ xX]\] #([1-9]\d{0,17})\b/gm;

function withoutCode(body: string): string {
  let fence: string | undefined;
  const lines = body.split(/\r\n|\r|\n/).filter((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) {
      fence = mark;
      return mark === undefined;
    }
    if (mark?.startsWith(fence) === true) fence = undefined;
    return false;
  });
  return lines.map((line) => line.replace(/`[^`]*`/g, '')).join('\n');
}
