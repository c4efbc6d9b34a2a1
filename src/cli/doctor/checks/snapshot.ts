import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';
import type { LedgerFacts, SnapshotFacts } from './ledger-facts.ts';

export const snapshotCheck = defineCheck('snapshot', 'The stored state, from which a daemon starts', {
  fits: ok('There is no snapshot yet, or it is signed and fits the ledger'),
  discarded: warning(
    'The snapshot is damaged, not signed, or of another ledger: the next start folds all entries again',
  ),
  forged: problem('The snapshot differs from the entries, or no key of the ledger signed it'),
});

export function diagnoseSnapshot(ledger: LedgerFacts | null): readonly Diagnosis[] {
  const inside = ledger?.inside ?? null;
  // Without a verified chain it is unknown which keys may sign.
  if (inside === null || inside.chain.findings.length > 0) return [];
  return [describe(inside.snapshot, inside.entries)];
}

function describe(snapshot: SnapshotFacts, entries: number): Diagnosis {
  switch (snapshot.kind) {
    case 'none':
      return snapshotCheck.found('fits', { detail: `none; a daemon folds ${entries} entries when it starts` });
    case 'matches':
      return snapshotCheck.found('fits', { detail: `of ${snapshot.size} entries, equal to their fold` });
    case 'unfolded':
      return snapshotCheck.found('fits', {
        detail: `of ${snapshot.size} entries, signed; compared with their fold by: baton ledger verify`,
      });
    case 'differs':
      return snapshotCheck.found('forged', { detail: snapshot.message, fix: snapshot.hint });
    case 'fault':
      return describeFault(snapshot.fault);
  }
}

function describeFault(fault: 'unsigned' | 'damaged' | 'foreign' | 'homeless'): Diagnosis {
  const rebuild = 'Nothing to do: the next start makes a new snapshot. To make one now: baton down && baton up';
  switch (fault) {
    case 'unsigned':
      return snapshotCheck.found('discarded', { detail: 'the snapshot is not signed', fix: rebuild });
    case 'damaged':
      return snapshotCheck.found('discarded', { detail: 'the snapshot cannot be read', fix: rebuild });
    case 'homeless':
      return snapshotCheck.found('discarded', {
        detail: 'the entry of the snapshot is not in the ledger',
        fix: rebuild,
      });
    case 'foreign': {
      const fix = 'Baton ignores the snapshot. Find out who wrote to the database, then: baton ledger verify';
      return snapshotCheck.found('forged', { detail: 'no key of this ledger has signed the snapshot', fix });
    }
  }
}
