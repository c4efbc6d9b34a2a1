import { join } from 'node:path';

/** Where a project's ledger lies inside a state folder, and the key of the machine that writes it. */
export interface LedgerPlace {
  readonly project: string;
  readonly ledger: string;
  /** The last checkpoint, outside of the database. */
  readonly outside: string;
  readonly key: string;
}

export function ledgerPlace(stateFolder: string, project: string): LedgerPlace {
  const ledger = join(stateFolder, 'projects', `${project}.db`);
  return { project, ledger, outside: `${ledger}.checkpoint`, key: join(stateFolder, 'key.pem') };
}
