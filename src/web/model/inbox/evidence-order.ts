/** The sections of the evidence in their default order. */
export const EVIDENCE_PARTS = [
  'budget', 'mission', 'checks', 'since', 'findings', 'items', 'claims', 'changes', 'output', 'goal', 'waiting', 'cost',
] as const; // prettier-ignore
export type EvidencePart = (typeof EVIDENCE_PARTS)[number];

/** The first sections by a question's source: the most useful ones. */
const FIRST: Readonly<Record<string, readonly EvidencePart[]>> = {
  stop: ['items', 'output', 'changes'],
  idle: ['items', 'output', 'changes'],
  dead: ['output', 'items'],
  error: ['items', 'output'],
  gate: ['checks', 'since', 'changes'],
  prompt: ['items', 'mission', 'output'],
  review: ['findings', 'items', 'claims', 'changes', 'checks'],
  merge: ['checks', 'since', 'findings', 'items', 'claims', 'changes'],
  reconcile: ['items', 'changes'],
  budget: ['budget', 'mission', 'cost'],
  integrity: ['items'],
};

export function orderEvidence(source: string): readonly EvidencePart[] {
  const first = FIRST[source] ?? [];
  return [...first, ...EVIDENCE_PARTS.filter((part) => !first.includes(part))];
}
