import { randomUUID } from 'node:crypto';
import { GENESIS } from '../chain.ts';
import type { Appended, Commit, Head } from '../store.ts';
import { encodeByteaArray } from './bytea-array.ts';
import type { Connection } from './connection.ts';
import { PostgresProblem } from './problems.ts';
import { toBuffer, type Parameter } from './statement.ts';

/**
 * One commit in one round trip. Where the connection breaks before the answer, the connection sends the very same
 * commit again: the function in the database recognises it by its id, so the answer is true whether or not the first
 * one had landed, and whether or not the server still works on it.
 */
export async function append(connection: Connection, project: number, commit: Commit): Promise<Appended> {
  requireNumbered(commit);
  const statement = commit.tiles.length === 0 ? APPEND : APPEND_WITH_TILES;
  try {
    const [row] = await connection.query(statement, parametersOf(project, commit));
    const conflict = row?.['conflict'];
    return typeof conflict === 'string'
      ? { ok: false, conflict: parseHead(conflict) }
      : { ok: true, head: headAfter(commit) };
  } catch (error) {
    if (error instanceof PostgresProblem) return { ok: false, problem: error.problem };
    throw error;
  }
}

const APPEND = { name: 'append', text: 'SELECT baton.append($1, $2, $3, $4, $5, $6, $7) AS conflict' };

/** Most commits complete no tile, and are spared three parameters. */
const APPEND_WITH_TILES = {
  name: 'append_with_tiles',
  text: 'SELECT baton.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS conflict',
};

function parametersOf(project: number, { after, entries, tiles, checkpoint }: Commit): Parameter[] {
  const parameters = [
    project,
    after.size,
    toBuffer(after.hash),
    randomUUID(),
    encodeByteaArray(entries.map(({ hash }) => hash)),
    encodeByteaArray(entries.map(({ bytes }) => bytes)),
    checkpoint.note,
  ];
  if (tiles.length === 0) return parameters;
  const levels = `{${tiles.map(({ level }) => level).join()}}`;
  const indexes = `{${tiles.map(({ index }) => index).join()}}`;
  return [...parameters, levels, indexes, encodeByteaArray(tiles.map(({ hash }) => hash))];
}

/** The database numbers the entries from the head on, so their own numbers must say the same. */
function requireNumbered({ after, entries, checkpoint }: Commit): void {
  for (const [index, { seq }] of entries.entries()) {
    if (seq !== after.size + 1 + index) throw new RangeError(`Entry ${seq} does not follow ${after.size + index}.`);
  }
  if (checkpoint.size !== after.size + entries.length) {
    throw new RangeError(`The checkpoint covers ${checkpoint.size} entries, the commit ends at another.`);
  }
}

function headAfter({ entries }: Commit): Head {
  const last = entries.at(-1) ?? entries[0];
  return { size: last.seq, hash: last.hash };
}

function parseHead(text: string): Head {
  const [size = '', hash = ''] = text.split(' ');
  return size === '0' ? GENESIS : { size: Number(size), hash: Buffer.from(hash, 'hex') };
}
