import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../../api/files.ts';
import { fieldsInJson, numberOf } from '../../../protocol/shape/read-unknown.ts';

/**
 * Reads the conversation's cost at the end of the last process. The agent could change the file, but it reports the
 * cost itself anyway.
 */
export function readCost(folder: string | undefined, conversation: string | undefined): number {
  if (folder === undefined || conversation === undefined) return 0;
  const { session, dollars } = fieldsInJson(readFileIfPresent(join(folder, NAME)));
  return session === conversation ? Math.max(0, numberOf(dollars)) : 0;
}

/** Records the cost. If the disk is full, a later process counts only its own part. */
export function keepCost(folder: string | undefined, session: string, dollars: number | null): void {
  if (folder === undefined || dollars === null) return;
  try {
    writeFileAtomically(join(folder, NAME), JSON.stringify({ session, dollars }));
  } catch {
    // A disk fault must not fail the turn, whose result is already printed.
  }
}

const NAME = 'cost.json';
