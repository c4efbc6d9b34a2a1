import type { ObjectNode } from '../protocol/text/node.ts';
import type { Parsed } from '../protocol/shape/problem.ts';
import { startReading } from './begin.ts';
import type { ImportOptions } from './format.ts';
import type { ImportFindings, FoundTask } from './findings.ts';
import { findList, objectsIn, parseJsonAt, findFieldText } from './json.ts';
import { refuseWithProblems, resolveTasks } from './resolve-tasks.ts';
import type { ImportedTasks } from './task.ts';
import { parseLabels } from './labels.ts';
import { findReferences } from './references.ts';

/** What `gh issue list --json number,title,body,state,labels` prints; `stateReason` is looked at where it is there. */
export function parseGithubIssues(text: string, options: ImportOptions = {}): Parsed<ImportedTasks> {
  const findings = startReading(text);
  if ('ok' in findings) return findings;
  const list = parseJsonAt(findings.text, 0, findings);
  if (list !== undefined && list.kind !== 'list') {
    findings.problem('import/not-github', 'not what `gh issue list --json` prints: no list', list.at, HINT);
  }
  if (list?.kind !== 'list') return refuseWithProblems(findings);
  const found = objectsIn(list, 'an issue', findings).flatMap((node) => readIssue(node, findings) ?? []);
  return resolveTasks(found, findings, options);
}

const HINT = 'Try: gh issue list --state all --limit 1000 --json number,title,body,state,labels';

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
  };
}
