import { randomUUID } from 'node:crypto';
import type { Appended, Commit } from '../store.ts';
import { encodeByteaArray } from './bytea-array.ts';
import type { Connection } from './connection.ts';
import { PostgresProblem } from './problems.ts';
import { toBuffer, toHead, type Parameter } from './statement.ts';

/**
 * One commit in one round trip. Where the connection breaks before the answer, the connection sends the very same
 * commit again: the function in the database recognises it by its id, so the answer is true whether or not the first
 * one had landed, and whether or not the server still works on it.
 */
export async function append(connection: Connection, project: number, commit: Commit): Promise<Appended> {
  requireNumbered(commit);
  try {
    const [row = {}] = await connection.query(APPEND, parametersOf(project, commit));
    const head = toHead(row);
    return row['landed'] === true ? { ok: true, head } : { ok: false, conflict: head };
  } catch (error) {
    if (error instanceof PostgresProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

const APPEND = {
  name: 'append',
  text: 'SELECT landed, size, hash FROM baton.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
};

function parametersOf(project: number, { after, entries, tiles, checkpoint }: Commit): Parameter[] {
  return [
    project,
    after.size,
    toBuffer(after.hash),
    randomUUID(),
    `{${entries.map(({ seq }) => seq).join()}}`,
    encodeByteaArray(entries.map(({ hash }) => hash)),
    encodeByteaArray(entries.map(({ bytes }) => bytes)),
    `{${tiles.map(({ level }) => level).join()}}`,
    `{${tiles.map(({ index }) => index).join()}}`,
    encodeByteaArray(tiles.map(({ hash }) => hash)),
    checkpoint.note,
  ];
}

/** The database checks this too; a commit with a gap is a mistake of the caller, and is found here with a better stack. */
function requireNumbered({ after, entries, checkpoint }: Commit): void {
  for (const [index, { seq }] of entries.entries()) {
    if (seq !== after.size + 1 + index)
      throw new RangeError(`Entry ${seq} does not follow ${after.size + index}.`);
  }
  if (checkpoint.size !== after.size + entries.length) {
    throw new RangeError(`The checkpoint covers ${checkpoint.size} entries, the commit ends at another.`);
  }
}
