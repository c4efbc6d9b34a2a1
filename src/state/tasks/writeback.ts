import type { Phase } from '../../protocol/phase.ts';
import type { Requirement } from '../event.ts';
import { refusal, type Refusal } from '../outcome.ts';
import { type Rules, rulesFor } from '../rules.ts';
import { type Claim, type Task, writebackRecords } from './task.ts';

/** The exact text of the source document, because instructions tell agents to search for it. */
export const WRITEBACK_REQUIRED = 'Writeback required: thought_record must be recorded before task completion.';
export type RuleCheck = { readonly ok: true } | { readonly ok: false; readonly refusal: Refusal };

/**
 * Decides whether a task may be completed. Every path calls this, and no flag skips it: the record must have been made
 * under the claim that completes the task; an operator without a claim may use any record since the work began.
 */
export function checkWriteback(task: Task, claim: Claim | null): RuleCheck {
  if (claim === null ? writebackRecords(task).length > 0 : hasWriteback(task, claim)) return { ok: true };
  return refuseUnrecorded(task);
}

export function refuseUnrecorded({ id }: Task): ReturnType<typeof refusal> {
  const hint = `Fill in the form (baton thought template ${id}), then record it: baton thought record FILE`;
  return refusal('writeback-required', WRITEBACK_REQUIRED, hint);
}

export function hasWriteback(task: Task, claim: Claim): boolean {
  return writebackRecords(task).some((record) => record.epoch === claim.epoch);
}

/** Reports whether a task is merged by Baton. A workflow always ends with a merge. */
export function isMerged(task: Pick<Task, 'flow'>, inForce: Rules): boolean {
  return task.flow.mode !== null || rulesFor(task, inForce).mergeGate;
}

/** Reports whether the task moves to a gate that needs a commit: the checks, and later the merge. */
export function needsCommit(task: Task, to: Phase | null, rules: Rules): boolean {
  return to === 'CI_PENDING' && task.phase !== to && (rulesFor(task, rules).ciGate || isMerged(task, rules));
}

/** Refuses to complete a phase that only a gate completes. */
export function checkGates(task: Task, to: Phase, inForce: Rules): RuleCheck {
  const rules = rulesFor(task, inForce);
  if (isMerged(task, inForce) && to === 'COMPLETED' && task.phase !== 'COMPLETED') {
    const hint = 'Send an exit signal for your phase; Baton merges when the task is READY_FOR_MERGE.';
    return refusal('merge-gate', `task ${task.id} is completed only by its merge, and is still ${task.phase}`, hint);
  }
  if (rules.ciGate && AFTER_CI.has(to) && !AFTER_CI.has(task.phase)) {
    const hint = 'Send an exit signal for IMPLEMENTATION; CI runs then.';
    return refusal('ci-gate', `task ${task.id} has not passed CI, and is ${task.phase}`, hint);
  }
  return { ok: true };
}

const AFTER_CI: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE', 'COMPLETED']);

/** Check 12: the messages that the session owes and has not sent. */
export function findMissingMessages(task: Task, claim: Claim, committed: boolean): Requirement[] {
  const owed: readonly Requirement[] = [
    ...claim.requires,
    ...(passesOn(task) ? (['handoff'] as const) : []),
    ...(committed ? (['thought_record'] as const) : []),
  ];
  return [...new Set(owed)].filter((requirement) => !IS_SENT[requirement](task, claim));
}

/**
 * Reports whether the task names a next role: without one no worker would continue a workflow, even after a claim by
 * hand.
 */
function passesOn({ flow, phase, nextRole }: Task): boolean {
  return flow.mode !== null && nextRole !== null && phase !== 'COMPLETED';
}

const IS_SENT: Readonly<Record<Requirement, (task: Task, claim: Claim) => boolean>> = {
  exit: () => true,
  result: (_task, { resultStatus }) => resultStatus !== null,
  handoff: (_task, { handoff }) => handoff !== null,
  thought_record: hasWriteback,
};

export function refuseMissing(missing: readonly Requirement[]): ReturnType<typeof refusal> {
  const commands = missing.map((each) => `${each}: ${SEND_COMMANDS[each]}`).join('; ');
  const forms = missing.includes('handoff') ? '. Blank forms: baton handoff template' : '';
  const hint = `Send what is missing, then the exit signal again. ${commands}${forms}`;
  return refusal('missing', `cannot complete: missing ${missing.join(', ')}`, hint);
}

export function describeMissing(missing: readonly Requirement[]): string {
  return missing.length === 0 ? '' : `missing ${missing.map((each) => `${each} (${SEND_COMMANDS[each]})`).join(', ')}`;
}

const SEND_COMMANDS = {
  exit: "baton emit exit '<json>'",
  result: 'baton result submit FILE',
  handoff: 'baton handoff send FILE',
  thought_record: 'baton thought record FILE',
} as const satisfies Record<Requirement, string>;
