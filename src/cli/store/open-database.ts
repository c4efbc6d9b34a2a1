import { type ChainOpening, makePostgresDatabase, type OpenedProject } from '../../ledger/postgres/postgres-store.ts';
import type { PostgresConnection } from '../../ledger/postgres/connection.ts';
import { isStoreUnavailable } from '../../ledger/store.ts';
import { findStoreUrlProblem } from '../../protocol/store-url.ts';
import { type Io } from '../command.ts';
import { exitCodeOf } from '../ledger/with-store.ts';
import { reportProblem } from '../problems.ts';

export interface OpenedDatabase extends Pick<OpenedProject, 'store' | 'project'> {
  /** Opens a separate session, for the tables besides the ledger. */
  readonly connect: (purpose: string) => PostgresConnection;
}

/**
 * Opens a project's ledger in a database, and closes it afterwards. A problem is printed, and its exit code returned.
 */
export async function withDatabase(
  { url, id, opening = 'daemons' }: { readonly url: string; readonly id: string; readonly opening?: ChainOpening },
  io: Io,
  use: (opened: OpenedDatabase) => Promise<number>,
): Promise<number> {
  const wrong = findStoreUrlProblem(url);
  if (wrong !== undefined) return reportProblem(wrong, io);
  // A person may wait longer for the answer than an agent's message.
  const database = makePostgresDatabase({ url, patienceMs: PATIENCE_MS, silenceMs: PATIENCE_MS });
  const connections: PostgresConnection[] = [];
  const connect = (purpose: string): PostgresConnection => {
    const connection = database.connect(purpose);
    connections.push(connection);
    return connection;
  };
  try {
    const opened = await database.openProject(id, opening);
    if (!opened.ok) return reportProblem(opened.problem, io);
    try {
      return await use({ store: opened.store, project: opened.project, connect });
    } finally {
      await opened.store.close();
    }
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    return reportProblem(error.problem, io, exitCodeOf(error.problem));
  } finally {
    await Promise.all(connections.map(async (connection) => connection.close()));
    await database.close();
  }
}

const PATIENCE_MS = 10_000;
