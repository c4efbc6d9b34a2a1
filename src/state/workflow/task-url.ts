import { parseHandoff } from '../../protocol/handoff/index.ts';
import type { Task } from '../task.ts';

/** Where an issue and its pull request are: the one that Baton opened, else what a handoff said, else at this Baton. */
export interface Addresses {
  readonly issue_url: string;
  readonly issue_number: string;
  readonly pr_url: string;
  readonly pr_number: string;
}

/** `.localhost` leads nowhere but to this machine; the daemon's port changes, the address does not. */
const HERE = 'http://baton.localhost/tasks';

export function addressesOf({ id, n, flow }: Pick<Task, 'id' | 'n' | 'flow'>): Addresses {
  const parsed = flow.handoff === null ? undefined : parseHandoff(flow.handoff.xml);
  const said = parsed?.ok === true && parsed.value.kind === 'handoff' ? parsed.value : undefined;
  const text = (name: string, otherwise: string): string => {
    const value = said?.[name];
    return typeof value === 'string' ? value : otherwise;
  };
  return {
    issue_url: text('issue_url', `${HERE}/${id}`),
    issue_number: String(n),
    pr_url: flow.pull?.url ?? text('pr_url', `${HERE}/${id}/pull`),
    pr_number: flow.pull?.number?.toString() ?? text('pr_number', String(n)),
  };
}
