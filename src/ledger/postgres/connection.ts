import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import {
  isConnectionLoss,
  isServerUnavailable,
  serverUnavailable,
  storeClosed,
  translateServerError,
} from './problems.ts';
import { createQuery, type Parameter, PARSERS, type QueryResult, type Row, type Statement } from './statement.ts';

export interface ConnectionOptions extends SessionOptions {
  /** How long a statement waits for an unreachable server before it fails with a problem. */
  readonly patienceMs: number;
  onLoss?(): void;
}

export interface PostgresConnection {
  /** Sends the statement, again after a connection loss: it must be harmless if it runs twice. */
  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>;
  insert(statement: Statement, values: readonly Parameter[]): Promise<number>;
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
        // The session may have failed for an earlier caller whose time was up; this caller may have time left.
        const isLost = isServerUnavailable(error) || isConnectionLoss(error);
        if (!isLost) throw translateServerError(error);
        drop(session);
        if (performance.now() >= deadline) throw isServerUnavailable(error) ? error : serverUnavailable(error);
        // A server that accepts connections and refuses every statement must not be asked in a tight loop.
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

interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  /** How long the server may be silent before the connection counts as lost: a cut cable sends no message. */
  readonly silenceMs: number;
  /** Runs before any statement. Errors other than a connection loss reach the caller of the statement. */
  setUp(client: Client): Promise<void>;
  onNotification?(channel: string): void;
}

interface PostgresSession {
  send(statement: Statement, values: readonly Parameter[]): Promise<QueryResult>;
  close(): Promise<void>;
  destroy(): void;
}

async function openPostgresSession(
  options: SessionOptions,
  connectTimeoutMs: number,
  onEnd: () => void,
): Promise<PostgresSession> {
  // The store creates the socket, because the driver cannot abort a connection at once.
  const socket = new Socket();
  const client = new Client({
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: PARSERS,
    stream: () => socket,
  });
  // Without a listener an error would end the process; pending statements learn of the loss by their rejection.
  client.on('error', () => undefined);
  client.on('notification', ({ channel }) => options.onNotification?.(channel));
  const giveUp = giveUpAfter(socket, connectTimeoutMs + options.silenceMs);
  try {
    await client.connect();
    await options.setUp(client);
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(giveUp);
  }
  client.once('end', onEnd);
  return makeSession(client, socket, options.silenceMs);
}

function makeSession(client: Client, socket: Socket, silenceMs: number): PostgresSession {
  let last: Promise<unknown> = Promise.resolve();

  const sendNow = (statement: Statement, values: readonly Parameter[]): Promise<QueryResult> => {
    const giveUp = statement.isSlow ? undefined : giveUpAfter(socket, silenceMs);
    return new Promise((resolve, reject) => {
      client.query(
        createQuery(statement, values, (error, answer) => {
          clearTimeout(giveUp);
          if (error) reject(error);
          else resolve(answer);
        }),
      );
    });
  };

  return {
    /** Statements run one after another: the time limit counts from when the server has the statement. */
    send(statement, values) {
      const answer = last.then(() => sendNow(statement, values));
      last = answer.catch(() => undefined);
      return answer;
    },
    async close() {
      await last;
      await client.end().catch(() => undefined);
    },
    destroy() {
      socket.destroy();
    },
  };
}

function giveUpAfter(socket: Socket, silenceMs: number): NodeJS.Timeout {
  return setTimeout(() => socket.destroy(new Error(`no answer in ${silenceMs} ms`)), silenceMs);
}
