import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';
import type { LedgerFacts } from './ledger-facts.ts';

export interface VersionFacts {
  /** The version of this command. */
  readonly version: string;
  /** The level of entries that this version can read and write. */
  readonly level: number;
  /** The version of the daemon that answers; null if none does. */
  readonly daemon: string | null;
  readonly ledger: LedgerFacts | null;
  /** Another Baton that comes first on the PATH. */
  readonly onPath: { readonly program: string; readonly version: string } | null;
}

export const versionsCheck = defineCheck('versions', 'This command, the daemon, and the entries of the ledger', {
  fit: ok('The versions fit'),
  'ledger-newer': problem('The ledger has entries of a newer Baton: this one decides nothing'),
  'other-on-path': warning('The `baton` on the `PATH` is of another version than this command'),
});

export function diagnoseVersions({ version, level, daemon, ledger, onPath }: VersionFacts): readonly Diagnosis[] {
  const inside = ledger?.inside ?? null;
  const found: Diagnosis[] = (inside?.unknown ?? []).map((detail) =>
    versionsCheck.found('ledger-newer', { detail, fix: UPDATE }),
  );
  const theirs = inside?.level ?? null;
  if (theirs !== null && theirs > level) {
    const detail = `the ledger has entries of level ${theirs}, and this version knows ${level}`;
    found.push(versionsCheck.found('ledger-newer', { detail, fix: UPDATE }));
  }
  if (onPath !== null) {
    const detail = `${onPath.program} is Baton ${onPath.version}, and this command is ${version}`;
    const fix = 'Use the same version for both: npm install -g batonctl';
    found.push(versionsCheck.found('other-on-path', { detail, fix }));
  }
  if (found.length > 0) return found;
  const parts = [
    `command ${version}`,
    daemon === null ? 'no daemon' : `daemon ${daemon}`,
    ...(theirs === null ? [] : [`ledger level ${theirs} of ${level}`]),
  ];
  return [versionsCheck.found('fit', { detail: parts.join(', ') })];
}

const UPDATE = 'Update Baton on this machine: npm install -g batonctl, then: baton down && baton up';
