/** The phases of a task, in the order in which work passes through them; BLOCKED is beside the row. */
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

/** Where a task goes when a session ends; undefined where no arrow leads on (COMPLETED and BLOCKED are not left this way). */
export function nextPhase(phase: Phase, reason: ExitReason): Phase | undefined {
  if (reason === 'completed') return ARROWS[phase];
  return phase === 'COMPLETED' ? undefined : 'BLOCKED';
}
