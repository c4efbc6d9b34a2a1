import type { RuleDifference } from '../../runbook/gates/compare-rules.ts';
import type { GateValue } from '../../runbook/gates/gate-fields.ts';

/** One difference a line: the field, what it was, what it is, and whether that loosens a gate. */
export function renderDifferences(differences: readonly RuleDifference[]): string {
  const shown = differences.slice(0, MAX_DIFFERENCES).map(describeDifference);
  const left = differences.length - shown.length;
  return [...shown, ...(left > 0 ? [`  and ${left} more`] : [])].join('\n');
}

/** An adoption as callers see it. */
export function adoptedView({ pinned, differences }: Adopted) {
  return { sha256: pinned.sha256, differences, text: renderDifferences(differences) };
}

interface Adopted {
  readonly pinned: { readonly sha256: string };
  readonly differences: readonly RuleDifference[];
}

const MAX_DIFFERENCES = 60;

function describeDifference({ field, before, after, effect }: RuleDifference): string {
  return `  ${effect}  ${field}: ${renderValue(before)} -> ${renderValue(after)}`;
}

function renderValue(value: GateValue): string {
  if (value === null) return 'not set';
  const text = JSON.stringify(value);
  return text.length <= MAX_VALUE_CHARACTERS ? text : `${text.slice(0, MAX_VALUE_CHARACTERS)}…`;
}

const MAX_VALUE_CHARACTERS = 200;
