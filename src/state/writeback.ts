import type { Phase } from '../protocol/phase.ts';
import { refusal, type Refusal } from './outcome.ts';
import type { Rules } from './rules.ts';
import { writebacks, type Claim, type Task } from './task.ts';

/** The words of the source document, to the letter: agents are told to look for them. */
export const WRITEBACK_REQUIRED = 'Writeback required: thought_record must be recorded before task completion.';

type Cleared = { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal };

/**
 * Whether a task may become done. Every path there passes here, and no flag skips it: the record must have been made under the
 * claim that completes the task; an operator without a claim may lean on any record since the work began.
 */
export function requireWriteback(task: Task, claim: Claim | null): Cleared {
  const made = writebacks(task);
  const counts = claim === null ? made : made.filter((record) => record.epoch === claim.epoch);
  if (counts.length > 0) return { ok: true };
  return refusal(
    'writeback-required',
    WRITEBACK_REQUIRED,
    `Record what was done: baton thought record - (task_id ${task.id})`,
  );
}

/** Whether the gates of the project have been passed, where it has any: completing is theirs, then. */
export function requireGates(task: Task, rules: Rules): Cleared {
  if (rules.mergeGate) {
    const hint = 'Send an exit signal for your phase; Baton merges when the task is READY_FOR_MERGE.';
    return refusal('merge-gate', `task ${task.id} is completed by its merge, and is ${task.phase}`, hint);
  }
  if (rules.ciGate && !AFTER_CI.has(task.phase)) {
    const hint = 'Send an exit signal for IMPLEMENTATION; CI runs then.';
    return refusal('ci-gate', `task ${task.id} has not passed CI, and is ${task.phase}`, hint);
  }
  return { ok: true };
}

const AFTER_CI: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);
