import { defineCheck, type Diagnosis, ok, problem } from '../finding.ts';

export interface NodeFacts {
  readonly version: string;
  /** The field `engines.node` of Baton's package. */
  readonly needs: string;
  readonly program: string;
}

export const nodeCheck = defineCheck('node', 'The Node that runs this command, against what Baton needs', {
  fits: ok('Node is new enough'),
  old: problem('Node is older than Baton needs'),
});

export function diagnoseNode({ version, needs, program }: NodeFacts): readonly Diagnosis[] {
  if (isAtLeast(version, needs.replace(/^>=\s*/, '')))
    return [nodeCheck.found('fits', { detail: `Node ${version}, ${program}` })];
  const detail = `Node ${version} (${program}); Baton needs ${needs}`;
  return [nodeCheck.found('old', { detail, fix: 'Install a newer one: https://nodejs.org/en/download' })];
}

/** Compares versions that consist of numbers and dots. */
export function isAtLeast(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split('.').map((part) => Number.parseInt(part, 10) || 0));
  for (const [i, number] of (want ?? []).entries()) {
    const difference = (have?.[i] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
