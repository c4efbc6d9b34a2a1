import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../../api/files.ts';
import { fieldsInJson, numberOf } from '../../../protocol/shape/read-unknown.ts';

/** What a conversation has cost when the last process ended. The agent could write the file: it reports the cost itself. */
export function readCost(folder: string | undefined, conversation: string | undefined): number {
  if (folder === undefined || conversation === undefined) return 0;
  const { session, dollars } = fieldsInJson(readFileIfPresent(join(folder, NAME)));
  return session === conversation ? Math.max(0, numberOf(dollars)) : 0;
}

/** On a full disk a later process counts what it can. */
export function keepCost(folder: string | undefined, session: string, dollars: number | null): void {
  if (folder === undefined || dollars === null) return;
  try {
    writeFileAtomically(join(folder, NAME), JSON.stringify({ session, dollars }));
  } catch {
    // The turn has been printed already.
  }
}

const NAME = 'cost.json';
