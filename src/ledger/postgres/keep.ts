import type { Snapshot } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { requireBytes, requireNumber, requireText, toBuffer } from './statement.ts';

/** A blob that is already there stays as it is: its name is the hash of its bytes. */
export async function insertBlob(
  connection: PostgresConnection,
  project: number,
  hash: Uint8Array,
  bytes: Uint8Array,
): Promise<void> {
  await connection.query(PUT_BLOB, [project, toBuffer(hash), toBuffer(bytes)]);
}

export async function selectBlob(
  connection: PostgresConnection,
  project: number,
  hash: Uint8Array,
): Promise<Uint8Array | undefined> {
  const [row] = await connection.query(FIND_BLOB, [project, toBuffer(hash)]);
  return row && requireBytes(row, 'bytes');
}

/** Whoever comes last wins: one that does not fit the ledger any more must make way for a smaller one. */
export async function upsertSnapshot(
  connection: PostgresConnection,
  project: number,
  name: string,
  { size, hash, bytes }: Snapshot,
): Promise<void> {
  await connection.query(SAVE_SNAPSHOT, [project, name, size, toBuffer(hash), toBuffer(bytes)]);
}

export async function selectSnapshot(
  connection: PostgresConnection,
  project: number,
  name: string,
): Promise<Snapshot | undefined> {
  const [row] = await connection.query(FIND_SNAPSHOT, [project, name]);
  return (
    row && {
      size: requireNumber(row, 'size'),
      hash: requireBytes(row, 'hash'),
      bytes: requireBytes(row, 'bytes'),
    }
  );
}

export async function deleteSnapshot(connection: PostgresConnection, project: number, name: string): Promise<void> {
  await connection.query(DROP_SNAPSHOT, [project, name]);
}

export async function selectSnapshotNames(connection: PostgresConnection, project: number): Promise<readonly string[]> {
  const rows = await connection.query(SNAPSHOT_NAMES, [project]);
  return rows.map((row) => requireText(row, 'name'));
}

const PUT_BLOB = {
  name: 'put_blob',
  text: `INSERT INTO baton.blob (project, hash, bytes) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
};

const FIND_BLOB = {
  name: 'find_blob',
  text: 'SELECT bytes FROM baton.blob WHERE project = $1 AND hash = $2',
};

const SAVE_SNAPSHOT = {
  name: 'save_snapshot',
  text: `
    INSERT INTO baton.snapshot (project, name, size, hash, bytes) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (project, name) DO UPDATE SET size = excluded.size, hash = excluded.hash, bytes = excluded.bytes`,
};

const FIND_SNAPSHOT = {
  name: 'find_snapshot',
  text: 'SELECT size, hash, bytes FROM baton.snapshot WHERE project = $1 AND name = $2',
};

const DROP_SNAPSHOT = {
  name: 'drop_snapshot',
  text: 'DELETE FROM baton.snapshot WHERE project = $1 AND name = $2',
};

const SNAPSHOT_NAMES = {
  name: 'snapshot_names',
  text: 'SELECT name FROM baton.snapshot WHERE project = $1 ORDER BY name',
};
