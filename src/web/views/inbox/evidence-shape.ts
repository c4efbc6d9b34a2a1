import type { DecisionEvidence as Known } from '../../../api/run-views.ts';
import type { ClaimedFact } from '../../kit/claims.tsx';

export interface DecisionEvidence extends Known {
  readonly mission: string | null;
  readonly budget: BudgetEvidence | null;
  readonly checks: readonly { readonly name: string; readonly outcome: string; readonly output: string | null }[];
  readonly claims: readonly ClaimedFact[];
}

export interface BudgetEvidence {
  readonly scope: string;
  readonly measure: 'tokens' | 'cost' | 'time';
  readonly used: number;
  readonly limit: number;
}

const NONE = { mission: null, budget: null, checks: [], claims: [] } as const;

export function fullEvidence(known: Known): DecisionEvidence {
  return { ...NONE, ...known };
}
