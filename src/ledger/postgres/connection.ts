import { setTimeout as delay } from 'node:timers/promises';
import { beforeDeadline } from './deadline.ts';
import type { GenerationGate } from './generation.ts';
import { isConnectionLoss, serverUnavailable, storeClosed, translateServerError } from './problems.ts';
import type { Reach } from './reach.ts';
import { openPostgresSession, type PostgresSession, type SessionOptions, TurnMissed } from './session.ts';
import type { Parameter, QueryResult, Row, Statement } from './statement.ts';

export interface ConnectionOptions extends SessionOptions {
  /** How long a statement waits for an unreachable server before it fails with a problem. */
  readonly reach: Reach;
  onLoss?(): void;
  onConnect?(generation: string): void;
}

export interface PostgresConnection {
  /** Sends the statement, and sends it again after a connection loss. The statement must be idempotent. */
  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>;
  /** The same connection for one project: statements wait until the project's chain is open on this server. */
  gated(gate: GenerationGate): PostgresConnection;
  close(): Promise<void>;
}

export function makeConnection(options: ConnectionOptions): PostgresConnection {
  const closing = new AbortController();
  const attempts: Attempts = { failure: new Error('no attempt has ended'), isReached: false };
  let ready: PostgresSession | undefined;
  let connecting: Promise<PostgresSession> | undefined;

  const drop = (lost: PostgresSession): void => {
    // A server that shuts down or has become a standby may leave the connection open.
    lost.destroy();
    if (ready !== lost) return;
    ready = undefined;
    if (closing.signal.aborted) return;
    void reconnect();
    options.onLoss?.();
  };

  /**
   * Reconnects in the background, so that the next statement finds a connection. A database may be missing while it is
   * restored.
   */
  const reconnect = async (): Promise<void> => {
    while (ready === undefined && !closing.signal.aborted) {
      await startConnecting().catch(() => undefined);
      if (ready === undefined)
        await delay(REFUSED_PAUSE_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  const startConnecting = (): Promise<PostgresSession> => {
    connecting ??= connect(options, attempts, closing.signal, drop)
      .then((session) => {
        ready = session;
        options.onConnect?.(session.generation);
        return session;
      })
      .finally(() => (connecting = undefined));
    return connecting;
  };

  const waitForSession = async (statement: Statement, deadline: number): Promise<PostgresSession> => {
    const session = startConnecting();
    const inTime = await beforeDeadline(session, deadline);
    if (inTime !== undefined) return inTime;
    // The server is reachable, but a migration or its lock takes longer.
    if (statement.waitsForSetUp && attempts.isReached) return session;
    options.reach.missed();
    throw serverUnavailable(attempts.failure);
  };

  const send = async (
    statement: Statement,
    values: readonly Parameter[],
    gate?: GenerationGate,
  ): Promise<QueryResult> => {
    const deadline = performance.now() + options.reach.patienceMs;
    for (;;) {
      if (closing.signal.aborted) throw storeClosed();
      const session = ready ?? (await waitForSession(statement, deadline));
      try {
        if (gate !== undefined && !gate.isOpen(session.generation)) await gate.open(session.generation, deadline);
        const answer = await session.send(statement, values, statement.isSlow ? Infinity : deadline);
        options.reach.answered();
        return answer;
      } catch (error) {
        if (error instanceof TurnMissed) throw serverUnavailable(error);
        if (!isConnectionLoss(error)) throw translateServerError(error);
        drop(session);
        if (performance.now() >= deadline) {
          options.reach.missed();
          throw serverUnavailable(error);
        }
        // Pauses, so that a server that accepts connections and refuses every statement is not asked in a tight loop.
        await delay(FIRST_PAUSE_MS);
      }
    }
  };

  const through = (gate?: GenerationGate): PostgresConnection => ({
    query: async (statement, values = []) => (await send(statement, values, gate)).rows,
    gated: through,
    async close() {
      closing.abort();
      const session = ready ?? (await connecting?.catch(() => undefined));
      await session?.close();
    },
  });
  return through();
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const REFUSED_PAUSE_MS = 1000;

interface Attempts {
  failure: unknown;
  /** The server has accepted the newest connection, which is not set up yet. */
  isReached: boolean;
}

/** Tries until there is a session, the server refuses for good, or the store is closed. */
async function connect(
  options: ConnectionOptions,
  attempts: Attempts,
  signal: AbortSignal,
  onEnd: (session: PostgresSession) => void,
): Promise<PostgresSession> {
  const onReach = (): void => {
    attempts.isReached = true;
  };
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return await openPostgresSession(options, { signal, onReach, onEnd });
    } catch (error) {
      if (!isConnectionLoss(error)) throw translateServerError(error);
      attempts.failure = error;
    } finally {
      attempts.isReached = false;
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {
      throw storeClosed();
    });
  }
}
