import { isPrUrl } from '../../protocol/exit-signal/exit-signal.ts';
import { parseHandoff, renderHandoff } from '../../protocol/handoff/index.ts';
import { excerptEnd } from '../runs/excerpt.ts';
import type { Task } from '../tasks/task.ts';
import type { HandoffRef, MergeMethod } from './workflow-event.ts';

export interface CheckFailure {
  readonly type: string;
  readonly text: string;
}

/** The handoff of a gate or a person to the fixer: what failed, and the end of the log. */
export function fixerHandoff(
  task: Task,
  from: 'ci-gate' | 'validator-agent' | 'operator',
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

export function addMergeResult(handoff: HandoffRef, sha: string, method: MergeMethod): HandoffRef {
  const parsed = parseHandoff(handoff.xml);
  if (!parsed.ok || parsed.value.kind !== 'handoff') return handoff;
  const merged = { ...parsed.value, merge_status: 'merged', merge_sha: sha, merge_strategy: method };
  return { ...handoff, xml: renderHandoff(merged) };
}

/**
 * The addresses of an issue and its pull request: the one that Baton opened, else one from a handoff, else a
 * placeholder. A session copies `pr_url` into its exit signal, so an address that the signal would refuse is not used.
 */
export interface TaskUrls {
  readonly issue_url: string;
  readonly issue_number: string;
  readonly pr_url: string;
  readonly pr_number: string;
}

/** `.invalid` never resolves. An exit signal accepts only `https://`. */
export const PLACEHOLDER_URL = 'https://baton.invalid/tasks';

export function taskUrls({ id, n, flow }: Pick<Task, 'id' | 'n' | 'flow'>): TaskUrls {
  const parsed = flow.handoff === null ? undefined : parseHandoff(flow.handoff.xml);
  const message = parsed?.ok === true && parsed.value.kind === 'handoff' ? parsed.value : undefined;
  const text = (name: string, otherwise: string): string => {
    const value = message?.[name];
    return typeof value === 'string' ? value : otherwise;
  };
  return {
    issue_url: text('issue_url', `${PLACEHOLDER_URL}/${id}`),
    issue_number: String(n),
    pr_url: [flow.pull?.url, message?.['pr_url']].find(isPrUrl) ?? `${PLACEHOLDER_URL}/${id}/pull`,
    pr_number: flow.pull?.number?.toString() ?? text('pr_number', String(n)),
  };
}

const MOST_FAILURES = 20;
