import type { FinishMerge } from '../../state/workflow/merge.ts';

/** How a merge went, with what there is to say about it. */
export type MergeResult = Pick<FinishMerge, 'outcome'> & Partial<FinishMerge>;
