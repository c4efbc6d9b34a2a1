import type { DecisionEvidence } from '../../../api/decision-evidence.ts';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { renderSpan } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';

const RENDER = {
  tokens: (amount: number) => `${renderAmount(amount)} tokens`,
  cost: (amount: number) => renderMoney(amount),
  time: (amount: number) => renderSpan(amount),
} as const;

type BudgetEvidence = NonNullable<DecisionEvidence['budget']>;

/** The used part of a budget. */
export function Budget({ budget: { scope, measure, used, limit } }: { readonly budget: BudgetEvidence }) {
  const share = limit === 0 ? 1 : used / limit;
  const percent = Math.floor(share * 100);
  const amount = RENDER[measure];
  return (
    <div class="budget">
      <p class="number">
        <Words text={scope} most={120} />: {amount(used)} of {amount(limit)} ({percent} %)
      </p>
      <div
        class={share >= 1 ? 'meter over' : 'meter'}
        role="meter"
        aria-label="Budget used"
        aria-valuenow={Math.min(100, percent)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span style={{ width: `${Math.min(100, percent)}%` }} />
      </div>
    </div>
  );
}
