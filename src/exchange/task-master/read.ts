import { type Parsed, quote } from '../../protocol/shape/problem.ts';
import type { Node, ObjectNode } from '../../protocol/text/node.ts';
import { type FoundDependency, type FoundTask, type ImportFindings, startReading } from '../findings.ts';
import { findFieldText, findList, findObject, objectsIn, parseJsonAt, textOfNode } from '../json.ts';
import { refuseWithProblems, resolveTasks } from '../resolve-tasks.ts';
import type { ImportedTasks, ImportOptions, TaskStatus } from '../task.ts';

/** Reads the `tasks.json` of claude-task-master: one list of tasks, or one per tag. */
export function parseTaskMaster(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const document = parseJsonAt(findings.text, 0, findings);
  const list = document === undefined ? undefined : findTag(document, options.tag, findings);
  if (list === undefined) return refuseWithProblems(findings);
  const found = objectsIn(findList(list, 'tasks'), 'a task', findings).flatMap((node) => {
    const task = readTask(node, undefined, findings);
    if (task === undefined) return [];
    const parts = objectsIn(findList(node, 'subtasks'), 'a subtask', findings);
    return [task, ...parts.flatMap((part) => readTask(part, task.id, findings) ?? [])];
  });
  return resolveTasks(found, findings, options);
}

function readTask(node: ObjectNode, parent: string | undefined, findings: ImportFindings): FoundTask | undefined {
  const number = findFieldText(node, 'id');
  if (number === undefined || number === '') {
    const what = parent === undefined ? 'task' : 'subtask';
    findings.problem('import/no-id', `a ${what} without an id`, node.at, 'Give it one.');
    return undefined;
  }
  const id = parent === undefined || number.startsWith(`${parent}.`) ? number : `${parent}.${number}`;
  const meta = findObject(node, 'metadata');
  const taskId = meta === undefined ? undefined : findFieldText(meta, 'baton_id');
  return {
    id,
    ...(taskId === undefined ? {} : { taskId }),
    title: findFieldText(node, 'title') ?? '',
    description: descriptionOf(node),
    ...statusOf(node, id, findings),
    priority: TASK_MASTER_PRIORITIES.get(findFieldText(node, 'priority') ?? 'medium') ?? 0,
    after: dependenciesOf(node, parent),
    ...(parent === undefined ? {} : { parent }),
    at: node.at,
  };
}

/** All texts of a task in the order of `task-master show`. */
function descriptionOf(node: ObjectNode): string {
  const test = findFieldText(node, 'testStrategy')?.trim() ?? '';
  const described = findFieldText(node, 'description');
  const parts = [
    described === findFieldText(node, 'title') ? '' : described,
    findFieldText(node, 'details'),
    test === '' ? '' : `## Test strategy\n\n${test}`,
  ];
  return parts
    .map((part) => part?.trim() ?? '')
    .filter((part) => part !== '')
    .join('\n\n');
}

function statusOf(node: ObjectNode, id: string, findings: ImportFindings): Pick<FoundTask, 'status' | 'reason'> {
  const word = findFieldText(node, 'status') ?? 'pending';
  const status = TASK_MASTER_STATUSES.get(word);
  if (status === undefined)
    findings.notice(`${quote(id)}: the status ${quote(word)} is unknown, read as todo`, node.at);
  return { status: status ?? 'todo', reason: `${word} in task-master` };
}

/** In a subtask, a number below 100 refers to a sibling, as in task-master. Everything else is an id as shown. */
function dependenciesOf(node: ObjectNode, parent: string | undefined): FoundDependency[] {
  return (findList(node, 'dependencies')?.items ?? []).flatMap((item) => {
    const id = textOfNode(item);
    if (id === undefined) return [];
    const isSibling = parent !== undefined && item.kind === 'number' && Number(id) < 100;
    return [{ id: isSibling ? `${parent}.${id}` : id, at: item.at }];
  });
}

/** Chooses the list named by `--tag`, else `master`, else the only one. The other lists give a notice. */
function findTag(document: Node, wanted: string | undefined, findings: ImportFindings): ObjectNode | undefined {
  if (document.kind !== 'object') {
    findings.problem(
      'import/not-task-master',
      'not a tasks.json of task-master: the file is not an object',
      document.at,
      HINT,
    );
    return undefined;
  }
  // A file from before tags is a single list.
  if (findList(document, 'tasks') !== undefined && wanted === undefined) return document;
  const tags = [...document.fields].flatMap(([name, { value }]) =>
    value.kind === 'object' && findList(value, 'tasks') !== undefined ? [{ name, value }] : [],
  );
  const chosen =
    tags.find(({ name }) => name === (wanted ?? 'master')) ??
    (wanted === undefined && tags.length === 1 ? tags[0] : undefined);
  const names = tags.map(({ name }) => quote(name)).join(', ');
  if (chosen === undefined) {
    const message =
      wanted === undefined
        ? 'the file has no list of tasks, or several without the tag master'
        : `the file has no tag ${quote(wanted)}`;
    findings.problem('import/no-tag', message, document.at, names === '' ? HINT : `Choose one with --tag: ${names}`);
    return undefined;
  }
  for (const { name, value } of tags) {
    const count = findList(value, 'tasks')?.items.length ?? 0;
    const message = `the tag ${quote(name)} (${count} tasks) is skipped; read it with --tag ${quote(name)}`;
    if (name !== chosen.name && count > 0) findings.notice(message, value.at);
  }
  return chosen.value;
}

const HINT = 'Use .taskmaster/tasks/tasks.json of a task-master project.';

/** The statuses of task-master. The first entry for each status is the one that Baton writes. */
export const TASK_MASTER_STATUSES: ReadonlyMap<string, TaskStatus> = new Map([
  ['pending', 'todo'],
  ['in-progress', 'in_progress'],
  ['review', 'in_progress'],
  ['done', 'done'],
  ['completed', 'done'],
  ['blocked', 'blocked'],
  ['deferred', 'blocked'],
  ['cancelled', 'cancelled'],
]);

export const TASK_MASTER_PRIORITIES: ReadonlyMap<string, number> = new Map(
  Object.entries({ critical: 20, high: 10, medium: 0, low: -10 }),
);

export function priorityWord(priority: number): string {
  if (priority > 0) return priority >= 20 ? 'critical' : 'high';
  return priority < 0 ? 'low' : 'medium';
}
