import { Meter, toneOfShare } from '../../kit/meter.tsx';
import { renderAmount, renderMoney } from '../../kit/numbers.ts';
import { renderSpan } from '../../kit/time.tsx';

interface BudgetUse {
  readonly measure: 'tokens' | 'cost' | 'time';
  readonly used: number;
  readonly limit: number;
  readonly percent: number;
}

const AMOUNT: Readonly<Record<BudgetUse['measure'], (value: number) => string>> = {
  tokens: renderAmount,
  cost: renderMoney,
  time: renderSpan,
};

/** The used part of a budget: `75 % of $4.00`, or only the share. */
export function BudgetMeter({
  budget,
  isShort = false,
}: {
  readonly budget: BudgetUse | null;
  readonly isShort?: boolean;
}) {
  if (budget === null) return <span class="dim">–</span>;
  const { percent, measure, limit } = budget;
  const label = isShort ? `${percent} %` : `${percent} % of ${AMOUNT[measure](limit)}`;
  return (
    <span title={describeBudget(budget)}>
      <Meter share={percent / 100} label={label} tone={toneOfShare(percent / 100)} />
    </span>
  );
}

/** Renders `$3.00 of $4.00`. */
export function describeBudget({ measure, used, limit }: BudgetUse): string {
  return `${AMOUNT[measure](used)} of ${AMOUNT[measure](limit)}${UNIT[measure]}`;
}

const UNIT: Readonly<Record<BudgetUse['measure'], string>> = { tokens: ' tokens', cost: '', time: ' of work' };
