import type { ObjectNode } from '../../protocol/node.ts';
import type { Parsed } from '../../protocol/problem.ts';
import { begin } from '../begin.ts';
import type { ReadOptions } from '../format.ts';
import type { Findings, FoundTask } from '../found.ts';
import { listOf, objectsIn, readJsonAt, textOf } from '../json.ts';
import { refusal, settle } from '../settle.ts';
import type { Reading } from '../task.ts';
import { labelled } from './labels.ts';
import { referencesIn } from './references.ts';

/** What `gh issue list --json number,title,body,state,labels` prints; `stateReason` is looked at where it is there. */
export function readGithub(text: string, options: ReadOptions = {}): Parsed<Reading> {
  const findings = begin(text);
  if ('ok' in findings) return findings;
  const list = readJsonAt(findings.text, 0, findings);
  if (list !== undefined && list.kind !== 'list') {
    findings.problem('import/not-github', 'not what `gh issue list --json` prints: no list', list.at, HINT);
  }
  if (list?.kind !== 'list') return refusal(findings);
  const found = objectsIn(list, 'an issue', findings).flatMap((node) => readIssue(node, findings) ?? []);
  return settle(found, findings, options);
}

const HINT = 'Try: gh issue list --state all --limit 1000 --json number,title,body,state,labels';

function readIssue(node: ObjectNode, findings: Findings): FoundTask | undefined {
  const id = textOf(node, 'number');
  if (id === undefined || !/^[1-9]\d{0,17}$/.test(id)) {
    findings.problem('import/no-id', 'an issue without a number', node.at, HINT);
    return undefined;
  }
  const body = textOf(node, 'body') ?? '';
  const names = objectsIn(listOf(node, 'labels'), 'a label', findings).map((label) => textOf(label, 'name') ?? '');
  const { isBlocked, isBegun, priority } = labelled(names);
  const isClosed = textOf(node, 'state')?.toUpperCase() === 'CLOSED';
  const isDropped = isClosed && textOf(node, 'stateReason')?.toUpperCase() === 'NOT_PLANNED';
  const open = isBlocked ? 'blocked' : isBegun ? 'in_progress' : 'todo';
  return {
    id,
    title: textOf(node, 'title') ?? '',
    description: body.replaceAll('\r\n', '\n').trim(),
    status: isDropped ? 'cancelled' : isClosed ? 'done' : open,
    reason: isDropped ? 'closed as not planned on GitHub' : 'blocked on GitHub',
    priority,
    after: referencesIn(body).map((number) => ({ id: number, at: node.at, isLoose: true })),
    at: node.at,
  };
}
