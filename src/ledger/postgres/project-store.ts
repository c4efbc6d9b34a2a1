import { type Commit, type Head, HealthLog, type Store } from '../store.ts';
import { appendToPostgres } from './append.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresProblem } from './problems.ts';
import type { PushedCommits } from './pushed-commits.ts';
import { makeProjectTables, selectHead } from './read.ts';
import { sql } from './statement.ts';
import type { PostgresHeadWatch } from './watch.ts';

export interface ProjectStoreParts {
  readonly project: number;
  readonly writer: PostgresConnection;
  readonly reader: PostgresConnection;
  /** For statements whose time grows with the ledger. */
  readonly slow: PostgresConnection;
  /** Called with every head that was read or written. */
  readonly note: (head: Head) => Head;
  readonly watch: PostgresHeadWatch;
  readonly pushed: PushedCommits;
  readonly announce: (commit: Commit) => void;
  readonly hurry: () => void;
  readonly close: () => Promise<void>;
}

export function makeProjectStore(parts: ProjectStoreParts): Store {
  const { project, writer, reader, slow, note, watch, pushed, announce, hurry, close } = parts;
  const log = new HealthLog();
  const tables = makeProjectTables(project, { reader, writer, slow });
  return {
    kind: 'postgres',
    async head() {
      return note(await selectHead(reader, project));
    },
    async append(commit) {
      const appended = await appendToPostgres(writer, project, commit);
      if ('problem' in appended) {
        log.failed(appended.problem);
        return appended;
      }
      log.succeeded();
      watch.announce(note(appended.ok ? appended.head : appended.conflict));
      if (appended.ok) announce(commit);
      return appended;
    },
    ...tables,
    async newer(head) {
      const news = pushed.take(head) ?? (await tables.newer(head));
      const last = news?.entries.at(-1);
      if (last !== undefined) note({ size: last.seq, hash: last.hash });
      return news;
    },
    wakeOthers: hurry,
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

/** Only a server that accepts writes assigns a transaction number. */
const PROBE = sql('probe')`SELECT pg_current_xact_id()`;
