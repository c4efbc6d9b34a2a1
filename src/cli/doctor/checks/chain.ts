import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';
import type { LedgerFacts } from './ledger-facts.ts';

export const chainCheck = defineCheck('chain', 'Whether the entries are those that were recorded', {
  verified: ok('Chain, hashes, tree and signature are right'),
  broken: problem('An entry was changed or removed, or no trusted key signed the end'),
  'no-outside-checkpoint': warning('The checkpoint outside of the ledger is missing or damaged'),
});

export function diagnoseChain(ledger: LedgerFacts | null): readonly Diagnosis[] {
  const inside = ledger?.inside ?? null;
  if (inside === null) return [];
  const { entries, chain } = inside;
  const [first, ...more] = chain.findings;
  if (first !== undefined) {
    const place = first.seq === null || first.message.startsWith('entr') ? '' : `entry ${first.seq}: `;
    const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
    const fix = `${first.hint} For all findings: baton ledger verify`;
    return [chainCheck.found('broken', { detail: `${place}${first.message}${others}`, fix })];
  }
  const warnings = chain.warnings.map((detail) => {
    const fix = 'Compare the ledger with a backup or an export. The next entry makes a new checkpoint.';
    return chainCheck.found('no-outside-checkpoint', { detail, fix });
  });
  return warnings.length > 0
    ? warnings
    : [chainCheck.found('verified', { detail: describeRange(entries, chain.from) })];
}

function describeRange(entries: number, from: number): string {
  if (from === 1) return `all ${entries} entries are verified`;
  return `entries ${from} to ${entries} and the tree before them are verified; all of them: baton ledger verify`;
}
