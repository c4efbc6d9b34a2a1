import type { TaskOverview } from '../../api/operations/task-view.ts';
import { renderCost } from '../costs.ts';

type Ended = Pick<TaskOverview, 'id' | 'activity' | 'merge_sha' | 'cost' | 'pull_request' | 'blocked_because'>;

/** Describes the end of a workflow: its outcome, its proof and its cost. */
export function describeEnd({
  id,
  activity,
  merge_sha,
  cost,
  pull_request,
  blocked_because,
}: Ended): readonly string[] {
  const tokens = cost.input_tokens + cost.output_tokens + cost.cached_tokens;
  const spent = `Cost: ${renderCost({ ...cost, tokens })}`;
  if (activity === 'cancelled') {
    const reason = blocked_because?.replace(/^cancelled(?:: |$)/, '') ?? '';
    return [`${id} is cancelled${reason === '' ? '' : `: ${reason}`}.`, spent];
  }
  const url = pull_request?.url ?? null;
  return [
    `${id} is done${merge_sha === null ? '' : `: merged as ${merge_sha.slice(0, 12)}`}.`,
    ...(url === null ? [] : [`Pull request: ${url}`]),
    `Proof: baton ledger prove ${id}`,
    spent,
  ];
}
