import type { RuleDifference } from '../../runbook/gates/compare-rules.ts';
import { describeLoosening } from '../../runbook/gates/describe-difference.ts';
import type { GateValue } from '../../runbook/gates/gate-value.ts';

export function renderDifferences(differences: readonly RuleDifference[]): string {
  // What needs a person comes first.
  const sorted = differences.toSorted((a, b) => Number(b.effect === 'loosens') - Number(a.effect === 'loosens'));
  const shown = sorted.slice(0, MAX_DIFFERENCES).map(describeDifference);
  const left = differences.length - shown.length;
  return [...shown, ...(left > 0 ? [`  and ${left} more`] : [])].join('\n');
}

export function adoptedView({ pinned, differences }: Adopted) {
  return { sha256: pinned.sha256, differences, text: renderDifferences(differences) };
}

interface Adopted {
  readonly pinned: { readonly sha256: string };
  readonly differences: readonly RuleDifference[];
}

function describeDifference(difference: RuleDifference): string {
  const { field, before, after, effect } = difference;
  const words = describeLoosening(difference);
  const values = `${field}: ${renderValue(before)} -> ${renderValue(after)}`;
  return `  ${effect}  ${words === undefined ? values : `${words} (${values})`}`;
}

function renderValue(value: GateValue): string {
  if (value === null) return 'not set';
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_VALUE_CHARACTERS)}…`;
}

const MAX_VALUE_CHARACTERS = 200;

const MAX_DIFFERENCES = 60;
