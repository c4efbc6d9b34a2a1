import { parseHandoff, renderHandoff } from '../../protocol/handoff/index.ts';
import { excerptEnd } from '../runs/excerpt.ts';
import type { Task } from '../tasks/task.ts';
import { taskUrls } from './task-url.ts';
import type { HandoffRef, MergeMethod } from './workflow-event.ts';

export interface CheckFailure {
  readonly type: string;
  readonly text: string;
}

/** What a gate sends to the fixer: it says what failed, and how the log ended. */
export function fixerHandoff(
  task: Task,
  from: 'ci-gate' | 'validator-agent',
  failures: readonly CheckFailure[],
  handoffId: string,
): HandoffRef {
  const { pr_url, pr_number, issue_number } = taskUrls(task);
  const listed = failures.slice(0, MOST_FAILURES).map(({ type, text }) => ({ type, text: withoutInvalidXml(text) }));
  const message = {
    kind: 'handoff',
    from,
    to: 'fixer-agent',
    pr_url,
    pr_number,
    issue_number,
    validation_status: 'failed',
    failures: listed,
  } as const;
  const xml = renderHandoff(message);
  return {
    handoff_id: handoffId,
    task_id: task.id,
    from,
    to: 'fixer-agent',
    phase: 'IMPLEMENTATION',
    next_role: 'fixer',
    xml,
  };
}

const MOST_FAILURES = 20;

/** What programs print may hold what XML cannot. */
function withoutInvalidXml(text: string): string {
  const plain = excerptEnd(text.toWellFormed(), 3000)
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '')
    .replaceAll(/\r\n?/g, '\n')
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\uFFFE\uFFFF]/g, '')
    .trim();
  return plain === '' ? 'no output' : plain;
}

/** The validator's handoff to the closer, with what the merge made of it. */
export function addMergeResult(handoff: HandoffRef, sha: string, method: MergeMethod): HandoffRef {
  const parsed = parseHandoff(handoff.xml);
  if (!parsed.ok || parsed.value.kind !== 'handoff') return handoff;
  const merged = { ...parsed.value, merge_status: 'merged', merge_sha: sha, merge_strategy: method };
  return { ...handoff, xml: renderHandoff(merged) };
}
