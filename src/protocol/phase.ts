/** The phases of a task, in the order of the work; BLOCKED can follow any of them. */
export const PHASES = [
  'DRAFT',
  'IMPLEMENTATION',
  'CI_PENDING',
  'READY_FOR_REVIEW',
  'REVIEW',
  'READY_FOR_MERGE',
  'COMPLETED',
  'BLOCKED',
] as const;

export type Phase = (typeof PHASES)[number];
export const EXIT_REASONS = ['completed', 'blocked', 'error'] as const;
export type ExitReason = (typeof EXIT_REASONS)[number];

const ARROWS: Partial<Record<Phase, Phase>> = {
  DRAFT: 'IMPLEMENTATION',
  IMPLEMENTATION: 'CI_PENDING',
  CI_PENDING: 'READY_FOR_REVIEW',
  READY_FOR_REVIEW: 'REVIEW',
  REVIEW: 'READY_FOR_MERGE',
  READY_FOR_MERGE: 'COMPLETED',
};

/**
 * The next phase of a task after a session ends; undefined if there is none (a session cannot leave COMPLETED or
 * BLOCKED).
 */
export function nextPhase(phase: Phase, reason: ExitReason): Phase | undefined {
  if (reason === 'completed') return ARROWS[phase];
  return phase === 'COMPLETED' ? undefined : 'BLOCKED';
}

/** What a task is currently doing or waiting for. */
export const ACTIVITIES = [
  /** Some of its dependencies are not done. */
  'pending',
  /** It can be claimed, but has no claim. */
  'queued',
  /** A session holds the claim and is working. */
  'running',
  /** Its required checks run, or its pull request is published. */
  'checks',
  'merging',
  /** A person must answer before the task continues. */
  'waiting',
  /** It is BLOCKED, and no decision about it is open. */
  'blocked',
  'done',
  'cancelled',
] as const;

export type Activity = (typeof ACTIVITIES)[number];

/** Reports whether the task is finished, so that nothing more happens to it. */
export function isOver(activity: Activity): boolean {
  return activity === 'done' || activity === 'cancelled';
}
