import type { ObjectNode } from '../../protocol/node.ts';
import type { Parsed } from '../../protocol/problem.ts';
import { quote } from '../../protocol/quote.ts';
import { begin } from '../begin.ts';
import type { ReadOptions } from '../format.ts';
import type { Findings, FoundDependency, FoundTask } from '../found.ts';
import { asText, listOf, objectOf, objectsIn, readJsonAt, textOf } from '../json.ts';
import { refusal, settle } from '../settle.ts';
import type { Reading } from '../task.ts';
import { findTag } from './tags.ts';
import { PRIORITIES, STATUSES } from './words.ts';

/** The `tasks.json` of claude-task-master: one list of tasks, or one under each tag. */
export function readTaskMaster(text: string, options: ReadOptions = {}): Parsed<Reading> {
  const findings = begin(text);
  if ('ok' in findings) return findings;
  const document = readJsonAt(findings.text, 0, findings);
  const list = document === undefined ? undefined : findTag(document, options.tag, findings);
  if (list === undefined) return refusal(findings);
  const found = objectsIn(listOf(list, 'tasks'), 'a task', findings).flatMap((node) => {
    const task = readTask(node, undefined, findings);
    if (task === undefined) return [];
    const parts = objectsIn(listOf(node, 'subtasks'), 'a subtask', findings);
    return [task, ...parts.flatMap((part) => readTask(part, task.id, findings) ?? [])];
  });
  return settle(found, findings, options);
}

function readTask(node: ObjectNode, parent: string | undefined, findings: Findings): FoundTask | undefined {
  const number = textOf(node, 'id');
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
  const meta = objectOf(node, 'metadata');
  const taskId = meta === undefined ? undefined : textOf(meta, 'baton_id');
  return {
    id,
    ...(taskId === undefined ? {} : { taskId }),
    title: textOf(node, 'title') ?? '',
    description: descriptionOf(node),
    ...statusOf(node, id, findings),
    priority: PRIORITIES.get(textOf(node, 'priority') ?? 'medium') ?? 0,
    after: dependenciesOf(node, parent),
    ...(parent === undefined ? {} : { parent }),
    at: node.at,
  };
}

/** Everything that it says about a task, in the order in which `task-master show` does. */
function descriptionOf(node: ObjectNode): string {
  const test = textOf(node, 'testStrategy')?.trim() ?? '';
  const said = textOf(node, 'description');
  const parts = [
    said === textOf(node, 'title') ? '' : said,
    textOf(node, 'details'),
    test === '' ? '' : `## Test strategy\n\n${test}`,
  ];
  return parts
    .map((part) => part?.trim() ?? '')
    .filter((part) => part !== '')
    .join('\n\n');
}

function statusOf(node: ObjectNode, id: string, findings: Findings): Pick<FoundTask, 'status' | 'reason'> {
  const word = textOf(node, 'status') ?? 'pending';
  const status = STATUSES.get(word);
  if (status === undefined)
    findings.notice(`${quote(id)}: the status ${quote(word)} is not known, taken as todo`, node.at);
  return { status: status ?? 'todo', reason: `${word} in task-master` };
}

/**
 * In a subtask, a small number is another subtask of the same task; everything else is written as it is shown. Task-master draws the line
 * at a hundred.
 */
function dependenciesOf(node: ObjectNode, parent: string | undefined): FoundDependency[] {
  return (listOf(node, 'dependencies')?.items ?? []).flatMap((item) => {
    const id = asText(item);
    if (id === undefined) return [];
    const isSibling = parent !== undefined && item.kind === 'number' && Number(id) < 100;
    return [{ id: isSibling ? `${parent}.${id}` : id, at: item.at }];
  });
}
