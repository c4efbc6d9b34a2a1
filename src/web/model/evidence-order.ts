/** The parts of the evidence, in the order in which they are shown if nothing else is said. */
export const EVIDENCE_PARTS = [
  'budget',
  'mission',
  'checks',
  'items',
  'claims',
  'changes',
  'output',
  'goal',
  'cost',
] as const;
export type EvidencePart = (typeof EVIDENCE_PARTS)[number];

/** What tells most about a question of each source comes first. */
const FIRST: Readonly<Record<string, readonly EvidencePart[]>> = {
  stop: ['items', 'output', 'changes'],
  idle: ['items', 'output', 'changes'],
  dead: ['output', 'items'],
  error: ['items', 'output'],
  gate: ['checks', 'changes'],
  prompt: ['items', 'mission', 'output'],
  review: ['items', 'claims', 'changes', 'checks'],
  merge: ['checks', 'items', 'claims', 'changes'],
  reconcile: ['items', 'changes'],
  budget: ['budget', 'mission', 'cost'],
  integrity: ['items'],
};

export function orderEvidence(source: string): readonly EvidencePart[] {
  const first = FIRST[source] ?? [];
  return [...first, ...EVIDENCE_PARTS.filter((part) => !first.includes(part))];
}
