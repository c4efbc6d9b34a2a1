import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { parseState, renderState, SNAPSHOT_NAME } from '../../src/daemon/loop/fold-state.ts';

export interface Row {
  readonly size: number;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

/** Replaces the snapshot in the database, like an attacker with SQLite. */
export function replaceSnapshot(ledgerFile: string, forge: (row: Row) => Uint8Array): void {
  plantSnapshot(ledgerFile, SNAPSHOT_NAME, forge);
}

/** Adds a forged snapshot to the database under any name. */
export function plantSnapshot(ledgerFile: string, name: string, forge: (row: Row) => Uint8Array): void {
  const db = new DatabaseSync(ledgerFile);
  const row = db.prepare('SELECT size, hash, bytes FROM snapshot WHERE name = ?').get(SNAPSHOT_NAME);
  if (row === undefined) throw new Error('the daemon left no snapshot');
  const bytes = forge(row as unknown as Row); // oxlint-disable-line typescript/no-unsafe-type-assertion
  const { size, hash } = row;
  if (size === undefined || hash === undefined) throw new Error('the snapshot has no entry');
  db.prepare('INSERT OR REPLACE INTO snapshot (name, size, hash, bytes) VALUES (?, ?, ?, ?)').run(
    name,
    size,
    hash,
    bytes,
  );
  db.close();
}

/** Splits a signed snapshot into its parts. */
export function partsOf(bytes: Uint8Array): { readonly note: Uint8Array; readonly state: Uint8Array } {
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  return { note: bytes.subarray(0, end), state: bytes.subarray(end) };
}

/** The attacker's state: the task is done, although no entry records that. */
export function markDone(bytes: Uint8Array, taskId = 'T1'): Uint8Array {
  const state = parseState(bytes);
  const task = state?.tasks.get(taskId);
  if (state === undefined || task === undefined) throw new Error('the snapshot does not hold the task');
  state.tasks.set(taskId, { ...task, phase: 'COMPLETED' });
  return renderState(state);
}

/** The format before signatures: anyone who can write the row can also compute its digest. */
export function withDigest({ size, hash, bytes }: Row): Uint8Array {
  const state = markDone(partsOf(bytes).state);
  const digest = sha256(`${JSON.stringify(SNAPSHOT_NAME)} ${size}\n`, hash, sha256(state));
  return Buffer.concat([digest, state]);
}

/** The note that the daemon signed, followed by another state. */
export function withOldNote({ bytes }: Row): Uint8Array {
  const { note, state } = partsOf(bytes);
  return Buffer.concat([note, markDone(state)]);
}

function sha256(...parts: (string | Uint8Array)[]): Buffer {
  return parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
}
