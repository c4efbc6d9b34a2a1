import { isPrUrl } from '../../protocol/exit-signal-checks.ts';
import { parseHandoff } from '../../protocol/handoff/index.ts';
import type { Task } from '../tasks/task.ts';

/**
 * Where an issue and its pull request are: the one that Baton opened, else what a handoff said, else an address of Baton's own. A session is
 * told to put `pr_url` into its exit signal, so an address that the signal would refuse is not passed on.
 */
export interface TaskUrls {
  readonly issue_url: string;
  readonly issue_number: string;
  readonly pr_url: string;
  readonly pr_number: string;
}

/** `.invalid` leads nowhere; the daemon's port changes, the address does not. An exit signal takes only `https://`. */
const PLACEHOLDER_URL = 'https://baton.invalid/tasks';

export function taskUrls({ id, n, flow }: Pick<Task, 'id' | 'n' | 'flow'>): TaskUrls {
  const parsed = flow.handoff === null ? undefined : parseHandoff(flow.handoff.xml);
  const said = parsed?.ok === true && parsed.value.kind === 'handoff' ? parsed.value : undefined;
  const text = (name: string, otherwise: string): string => {
    const value = said?.[name];
    return typeof value === 'string' ? value : otherwise;
  };
  return {
    issue_url: text('issue_url', `${PLACEHOLDER_URL}/${id}`),
    issue_number: String(n),
    pr_url: [flow.pull?.url, said?.['pr_url']].find(isPrUrl) ?? `${PLACEHOLDER_URL}/${id}/pull`,
    pr_number: flow.pull?.number?.toString() ?? text('pr_number', String(n)),
  };
}
