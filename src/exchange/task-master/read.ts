import type { ObjectNode } from '../../protocol/text/node.ts';
import type { Parsed } from '../../protocol/shape/problem.ts';
import { quote } from '../../protocol/shape/quote.ts';
import { startReading } from '../begin.ts';
import type { ImportOptions } from '../format.ts';
import type { ImportFindings, FoundDependency, FoundTask } from '../findings.ts';
import { textOfNode, findList, findObject, objectsIn, parseJsonAt, findFieldText } from '../json.ts';
import { refuseWithProblems, resolveTasks } from '../resolve-tasks.ts';
import type { ImportedTasks } from '../task.ts';
import { findTag } from './tags.ts';
import { TASK_MASTER_PRIORITIES, TASK_MASTER_STATUSES } from './words.ts';

/** The `tasks.json` of claude-task-master: one list of tasks, or one under each tag. */
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
    findings.problem(
      'import/no-id',
      `a ${parent === undefined ? 'task' : 'subtask'} without an id`,
      node.at,
      'Give it one.',
    );
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

/** Everything that it says about a task, in the order in which `task-master show` does. */
function descriptionOf(node: ObjectNode): string {
  const test = findFieldText(node, 'testStrategy')?.trim() ?? '';
  const said = findFieldText(node, 'description');
  const parts = [
    said === findFieldText(node, 'title') ? '' : said,
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
    findings.notice(`${quote(id)}: the status ${quote(word)} is not known, taken as todo`, node.at);
  return { status: status ?? 'todo', reason: `${word} in task-master` };
}

/**
 * In a subtask, a small number is another subtask of the same task; everything else is written as it is shown. Task-master draws the line
 * at a hundred.
 */
function dependenciesOf(node: ObjectNode, parent: string | undefined): FoundDependency[] {
  return (findList(node, 'dependencies')?.items ?? []).flatMap((item) => {
    const id = textOfNode(item);
    if (id === undefined) return [];
    const isSibling = parent !== undefined && item.kind === 'number' && Number(id) < 100;
    return [{ id: isSibling ? `${parent}.${id}` : id, at: item.at }];
  });
}
