import type { Phase } from '../../protocol/phase.ts';
import { includesPrincipal } from '../caller.ts';
import type { EventOf } from '../event.ts';
import type { Flow } from './flow.ts';

export type BranchMoved = EventOf<'BranchMoved'>['data'];

/** Reports whether the approval is for the current head, and by a principal that is no author. */
export function isApproved({ approval, head, authors }: Pick<Flow, 'approval' | 'head' | 'authors'>): boolean {
  if (approval === null || head === null || approval.head !== head) return false;
  return approval.principal !== undefined && !includesPrincipal(authors, approval.principal);
}

/**
 * The approval after the branch moved. It stays if the new tree is the automatic merge of the approved head with main,
 * and none of the move's sources gave it.
 */
export function approvalAfterMove(
  { approval }: Pick<Flow, 'approval'>,
  { old, new: head, main, sources }: BranchMoved,
): Flow['approval'] {
  if (approval === null || old === null || approval.head !== old || main === null) return null;
  const isBySource = approval.principal === undefined || includesPrincipal(sources, approval.principal);
  return isBySource ? null : { ...approval, head };
}

/** Where the work goes after its checks: an approval that stayed when the branch moved needs no second review. */
export function phaseAfterChecks({ flow }: { readonly flow: Flow }): Phase {
  return isApproved(flow) ? 'READY_FOR_MERGE' : 'READY_FOR_REVIEW';
}
