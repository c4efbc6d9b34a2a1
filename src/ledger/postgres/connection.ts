import { setTimeout as delay } from 'node:timers/promises';
import {
  storeClosed,
  isConnectionLoss,
  isServerUnavailable,
  translateServerError,
  serverUnavailable,
} from './problems.ts';
import { openPostgresSession, type PostgresSession, type SessionOptions } from './session.ts';
import type { QueryResult, Parameter, Row, Statement } from './statement.ts';

export interface ConnectionOptions extends SessionOptions {
  /** How long a statement waits for a server that is away, before it is answered with a problem. */
  readonly patienceMs: number;
  onLoss?(): void;
}

/** One session with the server, made when needed and made anew when it breaks. */
export interface PostgresConnection {
  /**
   * Sends the statement, and sends it again in a new session where the first was lost before the answer came. So every
   * statement must be harmless when it happens twice.
   */
  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>;
  /** The same for an INSERT: how many rows it made. */
  insert(statement: Statement, values: readonly Parameter[]): Promise<number>;
  /** Lets what was sent be answered, and ends. */
  close(): Promise<void>;
}

export function makeConnection(options: ConnectionOptions): PostgresConnection {
  const closing = new AbortController();
  let current: Promise<PostgresSession> | undefined;

  const drop = (session: Promise<PostgresSession>): void => {
    if (current !== session) return;
    current = undefined;
    // A server that shuts down, or has become a standby, may leave the connection open.
    session.then((old) => old.destroy()).catch(() => undefined);
    if (!closing.signal.aborted) options.onLoss?.();
  };

  const connected = (deadline: number): Promise<PostgresSession> => {
    if (current !== undefined) return current;
    const session: Promise<PostgresSession> = connect(options, deadline, closing.signal, () => drop(session));
    current = session;
    session.catch(() => {
      if (current === session) current = undefined;
    });
    return session;
  };

  const send = async (statement: Statement, values: readonly Parameter[]): Promise<QueryResult> => {
    const deadline = performance.now() + options.patienceMs;
    for (;;) {
      if (closing.signal.aborted) throw storeClosed();
      const session = connected(deadline);
      try {
        return await (await session).send(statement, values);
      } catch (error) {
        // Somebody who had waited longer gave up on the server; whoever came later has patience left.
        const isLost = isServerUnavailable(error) || isConnectionLoss(error);
        if (!isLost) throw translateServerError(error);
        drop(session);
        if (performance.now() >= deadline) throw isServerUnavailable(error) ? error : serverUnavailable(error);
        // A server that takes connections and refuses every statement must not be asked without a pause.
        await delay(FIRST_PAUSE_MS);
      }
    }
  };

  return {
    query: async (statement, values = []) => (await send(statement, values)).rows,
    insert: async (statement, values) => (await send(statement, values)).count,

    async close() {
      closing.abort();
      const session = await current?.catch(() => undefined);
      await session?.close();
    },
  };
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const SHORTEST_CONNECT_MS = 50;
const LONGEST_CONNECT_MS = 10_000;

async function connect(
  options: ConnectionOptions,
  deadline: number,
  signal: AbortSignal,
  onEnd: () => void,
): Promise<PostgresSession> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const leftMs = Math.max(deadline - performance.now(), SHORTEST_CONNECT_MS);
      return await openPostgresSession(options, Math.min(leftMs, LONGEST_CONNECT_MS), onEnd);
    } catch (error) {
      if (!isConnectionLoss(error)) throw translateServerError(error);
      if (performance.now() + pauseMs > deadline) throw serverUnavailable(error);
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {
      throw storeClosed();
    });
  }
}
