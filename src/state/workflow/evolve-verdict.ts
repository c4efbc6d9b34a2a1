import type { EventOf } from '../event.ts';
import type { Task } from '../tasks/task.ts';
import type { Flow } from './flow.ts';

/** Keeps an unproven approval until a person answers, or marks the approval that counts without proof. */
export function holdVerdict(
  flow: Flow,
  { task_id: _task, held, ...verdict }: EventOf<'VerdictUnproven'>['data'],
  { phase }: Pick<Task, 'phase'>,
): Flow {
  if (held !== null) return { ...flow, verdict: { ...verdict, held, from: phase, head: flow.head } };
  return flow.approval === null ? flow : { ...flow, approval: { ...flow.approval, unproven: 'accepted' } };
}

/** Records the approval as the judge's. A merge keeps the reviewer's approval: the confirmed verdict is the validator's. */
export function confirmVerdict(flow: Flow): Flow {
  const { verdict } = flow;
  if (verdict === undefined) return flow;
  const { holder: by, principal, head, held } = verdict;
  const isApproval = held.merge_id === null && held.to === 'READY_FOR_MERGE';
  const approval = isApproval ? ({ head, by, principal, unproven: 'confirmed' } as const) : flow.approval;
  return withoutVerdict({ ...flow, approval });
}

export function withoutVerdict({ verdict: _verdict, ...flow }: Flow): Flow {
  return flow;
}
