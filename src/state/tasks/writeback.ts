import type { Phase } from '../../protocol/phase.ts';
import { refusal, type Refusal } from '../outcome.ts';
import { rulesFor, type Rules } from '../rules.ts';
import { writebackRecords, type Claim, type Task } from './task.ts';

/** The words of the source document, to the letter: agents are told to look for them. */
export const WRITEBACK_REQUIRED = 'Writeback required: thought_record must be recorded before task completion.';

export type RuleCheck = { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal };

/**
 * Whether a task may become done. Every path there passes here, and no flag skips it: the record must have been made under the
 * claim that completes the task; an operator without a claim may lean on any record since the work began.
 */
export function checkWriteback(task: Task, claim: Claim | null): RuleCheck {
  if (claim === null ? writebackRecords(task).length > 0 : hasWriteback(task, claim)) return { ok: true };
  return refusal(
    'writeback-required',
    WRITEBACK_REQUIRED,
    `Record what was done: baton thought record - (task_id ${task.id})`,
  );
}

/** Whether a record was made under this claim, or for it. */
export function hasWriteback(task: Task, claim: Claim): boolean {
  return writebackRecords(task).some((record) => record.epoch === claim.epoch);
}

/** A workflow ends with a merge, whatever else the project does. */
export function isMerged(task: Pick<Task, 'flow'>, inForce: Rules): boolean {
  return task.flow.mode !== null || rulesFor(task, inForce).mergeGate;
}

/** Whether a task goes on to a gate that looks at one commit: the checks, and later the merge. */
export function needsCommit(task: Task, to: Phase | null, rules: Rules): boolean {
  return to === 'CI_PENDING' && task.phase !== to && (rulesFor(task, rules).ciGate || isMerged(task, rules));
}

/** Whether the gates of the project leave this way open: what is theirs to complete nobody else completes. */
export function checkGates(task: Task, to: Phase, inForce: Rules): RuleCheck {
  const rules = rulesFor(task, inForce);
  if (isMerged(task, inForce) && to === 'COMPLETED' && task.phase !== 'COMPLETED') {
    const hint = 'Send an exit signal for your phase; Baton merges when the task is READY_FOR_MERGE.';
    return refusal('merge-gate', `task ${task.id} is completed by its merge, and is ${task.phase}`, hint);
  }
  if (rules.ciGate && AFTER_CI.has(to) && !AFTER_CI.has(task.phase)) {
    const hint = 'Send an exit signal for IMPLEMENTATION; CI runs then.';
    return refusal('ci-gate', `task ${task.id} has not passed CI, and is ${task.phase}`, hint);
  }
  return { ok: true };
}

const AFTER_CI: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE', 'COMPLETED']);
