import type { Client } from 'pg';
import { sameBytes } from '../format/bytes.ts';
import { type Head, HealthLog, type Store } from '../store.ts';
import { appendToPostgres } from './append.ts';
import type { PostgresConnection } from './connection.ts';
import { PostgresProblem, rolledBack } from './problems.ts';
import { makeProjectTables, selectHead } from './read.ts';
import { sql } from './statement.ts';
import type { PostgresHeadWatch } from './watch.ts';

export interface ProjectStoreParts {
  readonly project: number;
  readonly writer: PostgresConnection;
  readonly reader: PostgresConnection;
  readonly continuity: ContinuityCheck;
  readonly watch: PostgresHeadWatch;
  readonly announce: () => void;
  readonly close: () => Promise<void>;
}

export function makeProjectStore(parts: ProjectStoreParts): Store {
  const { project, writer, reader, continuity, watch, announce, close } = parts;
  const log = new HealthLog();
  return {
    kind: 'postgres',
    async head() {
      return continuity.note(await selectHead(reader, project));
    },
    async append(commit) {
      const appended = await appendToPostgres(writer, project, commit);
      if ('problem' in appended) {
        log.failed(appended.problem);
        return appended;
      }
      log.succeeded();
      watch.announce(continuity.note(appended.ok ? appended.head : appended.conflict));
      if (appended.ok) announce();
      return appended;
    },
    ...makeProjectTables(project, reader, writer),
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

/** Only a server that can write gives out a transaction number. */
const PROBE = sql('probe')`SELECT pg_current_xact_id()`;

export interface ContinuityCheck {
  note(head: Head): Head;
  /** Throws, from then on always, if a new connection has another chain than the one read before. */
  require(client: Client, project: number): Promise<void>;
}

/** A server that comes back may lack entries (standby, backup), so a new connection must contain the newest entry read. */
export function makeContinuityCheck(): ContinuityCheck {
  let seen: Head | undefined;
  let lost: PostgresProblem | undefined;

  return {
    note(head) {
      if (head.size > (seen?.size ?? 0)) seen = head;
      return head;
    },
    async require(client, project) {
      if (seen !== undefined && !(await contains(client, project, seen))) lost = rolledBack(seen.size);
      if (lost !== undefined) throw lost;
    },
  };
}

async function contains(client: Client, project: number, { size, hash }: Head): Promise<boolean> {
  const text = 'SELECT hash FROM baton.entry WHERE project = $1 AND seq = $2';
  const { rows } = await client.query<{ hash: Buffer }>({ text, values: [project, size] });
  return rows[0] !== undefined && sameBytes(rows[0].hash, hash);
}
