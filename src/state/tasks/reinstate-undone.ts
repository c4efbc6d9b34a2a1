import type { FindingKind } from '../../protocol/shape/shared-fields.ts';
import { type Caller, principalOf } from '../caller.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import { isCancelled, type Task } from './task.ts';

/** Why a caller without a claim on the task may reinstate it. */
export interface UndoneBasis {
  readonly decision_id: string;
  readonly by: string;
}

/**
 * Failure mode 3 of the handoff document: an agent that finds a completed task's work missing reinstates the task. The
 * agent's report is not enough: an open finding of reconciliation must agree. A finding that a person dismissed no
 * longer counts.
 */
export function findUndoneBasis(state: State, task: Task, caller: Caller): Outcome<UndoneBasis> {
  const { id, claim, phase } = task;
  const asPerson = `baton task reinstate ${id} --reason "…"`;
  if (isCancelled(task))
    return refusal('cancelled', `an operator cancelled task ${id}`, `Only a person can reinstate it: ${asPerson}`);
  if (claim !== null)
    return refusal(
      'already-claimed',
      `task ${id} is claimed by ${claim.holder}`,
      `See the task: baton task show ${id}`,
    );
  if (phase !== 'COMPLETED')
    return refusal('not-undone', `task ${id} is ${phase}: it is not completed`, `See the task: baton task show ${id}`);
  const finding = findOpenFinding(state, id);
  if (finding !== undefined) return decided([], { decision_id: finding, by: principalOf(state, caller) });
  const message = `Baton has not found the commit of ${id} reverted or gone from the main branch`;
  return refusal('not-undone', message, `If it is to be done again anyway, a person can reinstate it: ${asPerson}`);
}

/** Findings about a completed task whose work is no longer on the main branch. */
const UNDONE_WORK: ReadonlySet<FindingKind> = new Set(['commit-missing', 'commit-gone', 'commit-reverted']);

function findOpenFinding({ decisions }: State, task: string): string | undefined {
  for (const { id, taskId, source, finding, result } of decisions.values())
    if (taskId === task && source === 'reconcile' && result === null && finding && UNDONE_WORK.has(finding)) return id;
  return undefined;
}
