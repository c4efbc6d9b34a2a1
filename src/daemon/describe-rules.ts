import type { RuleDifference } from '../runbook/compare-rules.ts';
import type { GateValue } from '../runbook/gate-fields.ts';

/** One difference a line: the field, what it was, what it is, and whether that loosens a gate. */
export function describeDifferences(differences: readonly RuleDifference[]): string {
  const shown = differences.slice(0, MOST).map(describeDifference);
  const left = differences.length - shown.length;
  return [...shown, ...(left > 0 ? [`  and ${left} more`] : [])].join('\n');
}

/** An adoption as callers see it. */
export function describeAdopted({ pinned, differences }: Adopted) {
  return { sha256: pinned.sha256, differences, text: describeDifferences(differences) };
}

interface Adopted {
  readonly pinned: { readonly sha256: string };
  readonly differences: readonly RuleDifference[];
}

const MOST = 60;

function describeDifference({ field, before, after, effect }: RuleDifference): string {
  return `  ${effect}  ${field}: ${valueInWords(before)} -> ${valueInWords(after)}`;
}

function valueInWords(value: GateValue): string {
  if (value === null) return 'not set';
  const text = JSON.stringify(value);
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}

const MOST_CHARACTERS = 200;
