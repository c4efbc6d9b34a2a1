import type { Phase } from '../../protocol/phase.ts';

/** The phases in which a change is judged: to leave one of them forwards is to approve the change. */
export const JUDGED_PHASES: ReadonlySet<Phase> = new Set(['READY_FOR_REVIEW', 'REVIEW', 'READY_FOR_MERGE']);

/** Whether a move approves a change. A task that goes straight from IMPLEMENTATION to COMPLETED was never up for approval. */
export function isApproval(from: Phase, to: Phase | null): boolean {
  if (to === 'READY_FOR_MERGE') return from !== to;
  return to === 'COMPLETED' && JUDGED_PHASES.has(from);
}
