import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateFiles } from '../../src/api/state-folder.ts';

/** Finds the file of the state folder's only project: its ledger, or the replica of its ledger. */
export function findLedgerFile(stateDir: string): string {
  const { projects } = stateFiles(stateDir);
  const name = readdirSync(projects).find((each) => each.endsWith('.db'));
  if (name === undefined) throw new Error('there is no ledger yet');
  return join(projects, name);
}
