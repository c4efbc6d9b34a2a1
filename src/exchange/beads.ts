import type { ObjectNode } from '../protocol/text/node.ts';
import type { Parsed } from '../protocol/shape/problem.ts';
import { quote } from '../protocol/shape/quote.ts';
import { startReading } from './begin.ts';
import type { ImportOptions } from './format.ts';
import type { ImportFindings, FoundDependency, FoundTask } from './findings.ts';
import { findList, objectsIn, findFieldText } from './json.ts';
import { resolveTasks } from './resolve-tasks.ts';
import type { ImportedTasks } from './task.ts';
import { parseRecords } from './records.ts';
import { BLOCKING_DEPENDENCIES, priorityOfBeads, BEADS_STATUSES } from './words.ts';

/** What `bd export` writes: one issue a line. What `bd list --json` prints, a list, is read too. */
export function parseBeads(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const found = parseRecords(findings).flatMap((record) => readIssue(record.node, record.at, findings) ?? []);
  return resolveTasks(found, findings, options);
}

function readIssue(node: ObjectNode, from: number, findings: ImportFindings): FoundTask | undefined {
  const at = from + node.at;
  const type = findFieldText(node, '_type') ?? 'issue';
  const id = findFieldText(node, 'id');
  if (type !== 'issue') {
    findings.notice(`a ${quote(type)} is no task: left out`, at);
    return undefined;
  }
  if (id === undefined || id === '') {
    findings.problem('import/no-id', 'an issue without an id', at, 'Every line of a beads export has one.');
    return undefined;
  }
  const word = findFieldText(node, 'status') ?? 'open';
  if (word === 'tombstone') {
    findings.notice(`${quote(id)} was deleted in beads: left out`, at);
    return undefined;
  }
  const status = BEADS_STATUSES.get(word);
  if (status === undefined) findings.notice(`${quote(id)}: the status ${quote(word)} is not known, taken as todo`, at);
  const { after, parent } = dependenciesOf(node, id, from, findings);
  return {
    id,
    title: findFieldText(node, 'title') ?? '',
    description: descriptionOf(node),
    status: status ?? 'todo',
    reason: `${word} in beads`,
    priority: priorityIn(node),
    after,
    ...(parent === undefined ? {} : { parent }),
    at,
  };
}

function priorityIn(node: ObjectNode): number {
  const number = Number(findFieldText(node, 'priority') ?? 2);
  return Number.isInteger(number) && number >= 0 && number <= 4 ? priorityOfBeads(number) : 0;
}

function descriptionOf(node: ObjectNode): string {
  const parts = PARTS.map(([field, heading]) => {
    const text = findFieldText(node, field)?.trim() ?? '';
    return text === '' || heading === '' ? text : `## ${heading}\n\n${text}`;
  });
  return parts.filter((part) => part !== '').join('\n\n');
}

const PARTS = [
  ['description', ''],
  ['design', 'Design'],
  ['acceptance_criteria', 'Acceptance criteria'],
  ['notes', 'Notes'],
] as const;

/** Kinds that only say something about a task are not waited for; a child is a part of its parent. */
function dependenciesOf(node: ObjectNode, id: string, from: number, findings: ImportFindings) {
  const after: FoundDependency[] = [];
  let parent: string | undefined;
  for (const each of objectsIn(findList(node, 'dependencies'), 'a dependency', findings, from)) {
    const on = findFieldText(each, 'depends_on_id');
    const kind = findFieldText(each, 'type') ?? 'blocks';
    const at = from + each.at;
    if (on === undefined || on === '') continue;
    if (on.startsWith('external:')) findings.notice(`${quote(id)} waits for ${quote(on)}, elsewhere: left out`, at);
    else if (kind === 'parent-child') parent ??= on;
    else if (BLOCKING_DEPENDENCIES.has(kind)) after.push({ id: on, at });
  }
  return { after, parent };
}
