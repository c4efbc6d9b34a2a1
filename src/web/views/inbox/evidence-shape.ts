import type { DecisionEvidence } from '../../../api/run-views.ts';

export type { DecisionEvidence } from '../../../api/run-views.ts';
export type BudgetEvidence = NonNullable<DecisionEvidence['budget']>;
