import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readRunbook } from '../../runbook/read/read-runbook.ts';
import { type InitRecord, ROOT_FILE } from './record.ts';

interface Existing {
  readonly message: string;
  readonly hint: string;
}

/** Finds a runbook, or something else at its path. */
export async function findExisting(top: string, record: InitRecord): Promise<Existing | undefined> {
  const { files, checked } = await readRunbook(top);
  const unread = checked.ok ? undefined : checked.problems.find(({ file }) => file !== undefined)?.file;
  const path = files[0]?.path ?? unread;
  if (path !== undefined) {
    const undo = record.isUnchanged(path) ? '. Start over: baton init --undo' : '';
    const message = `this repository has a runbook already: ${path}`;
    return { message, hint: `Check the runbook: baton runbook check${undo}` };
  }
  // A dangling link is not a runbook but occupies its path.
  if (lstatSync(join(top, ROOT_FILE), { throwIfNoEntry: false }) === undefined) return undefined;
  return { message: `${ROOT_FILE} exists, and is not a file`, hint: 'Move it, then run baton init again.' };
}
