import { HealthLog } from '../health-log.ts';
import type { Store } from '../store.ts';
import { append } from './append.ts';
import type { Connection } from './connection.ts';
import type { Continuity } from './continuity.ts';
import { inspect } from './inspect.ts';
import { dropSnapshot, findBlob, findSnapshot, putBlob, readSnapshotNames, saveSnapshot } from './keep.ts';
import { PostgresProblem } from './problems.ts';
import { findCheckpoint, readBlobs, readEntries, readHashes, readHead, readTiles } from './read.ts';
import type { Watch } from './watch.ts';

export interface Parts {
  readonly project: number;
  /** Its commits wait for the disk. It belongs to this store alone. */
  readonly writer: Connection;
  /** Shared with the other projects. */
  readonly reader: Connection;
  readonly continuity: Continuity;
  readonly watch: Watch;
  /** Tells the other processes that there is something new. */
  readonly announce: () => void;
  readonly close: () => Promise<void>;
}

export function makeProjectStore({ project, writer, reader, continuity, watch, announce, close }: Parts): Store {
  const log = new HealthLog();
  return {
    kind: 'postgres',
    async head() {
      return continuity.note(await readHead(reader, project));
    },
    async append(commit) {
      const appended = await append(writer, project, commit);
      if ('problem' in appended) {
        log.failed(appended.problem);
        return appended;
      }
      log.succeeded();
      watch.tell(continuity.note(appended.ok ? appended.head : appended.conflict));
      if (appended.ok) announce();
      return appended;
    },
    entries: (range) => readEntries(reader, project, range),
    hashes: (range) => readHashes(reader, project, range),
    tiles: (level, range) => readTiles(reader, project, level, range),
    findCheckpoint: (size) => findCheckpoint(reader, project, size),
    // An entry that names a blob must find it there after a crash: blobs are written by the session that waits.
    putBlob: (hash, bytes) => putBlob(writer, project, hash, bytes),
    findBlob: (hash) => findBlob(reader, project, hash),
    blobs: () => readBlobs(reader, project),
    saveSnapshot: (name, snapshot) => saveSnapshot(reader, project, name, snapshot),
    findSnapshot: (name) => findSnapshot(reader, project, name),
    dropSnapshot: (name) => dropSnapshot(reader, project, name),
    snapshotNames: () => readSnapshotNames(reader, project),
    inspect: () => inspect(reader, project),
    watch: (listener) => watch.add(listener),
    health: () => log.health,
    async probe(freshMs = 0) {
      if (log.health.writable && log.provenAgoMs < freshMs) return log.health;
      try {
        await writer.query(PROBE);
        log.succeeded();
      } catch (error) {
        if (!(error instanceof PostgresProblem)) throw error;
        log.failed(error.problem);
      }
      return log.health;
    },
    close,
  };
}

/** A transaction number is only given out by a server that can write. */
const PROBE = { name: 'probe', text: 'SELECT pg_current_xact_id()' };
