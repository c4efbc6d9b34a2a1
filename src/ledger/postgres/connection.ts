import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { closed, isConnectionLoss, PostgresProblem, refusedByServer, unavailable } from './problems.ts';
import { bind, type Parameter, type Row, type Statement } from './statement.ts';

export interface ConnectionOptions {
  readonly url: string;
  readonly applicationName: string;
  /** How long a statement waits for a server that is away, before it is answered with a problem. */
  readonly patienceMs: number;
  /** How long the server may be silent before the connection counts as lost: a cut cable sends no message. */
  readonly silenceMs: number;
  /** Runs on each new connection before any statement; what it throws (but a loss) reaches the statement's caller. */
  setUp(client: Client): Promise<void>;
  onNotification?(channel: string): void;
  onLoss?(): void;
}

/** One session with the server, made when needed and made anew when it breaks. */
export interface Connection {
  /**
   * Sends the statement, and sends it again on a new connection where the first was lost before the answer came. So
   * every statement must be harmless when it happens twice.
   */
  query(statement: Statement, values?: readonly Parameter[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

interface Session {
  readonly client: Client;
  readonly socket: Socket;
}

export function makeConnection(options: ConnectionOptions): Connection {
  let current: Promise<Session> | undefined;
  let isClosed = false;

  const drop = (session: Promise<Session>): void => {
    if (current !== session) return;
    current = undefined;
    if (!isClosed) options.onLoss?.();
  };

  const connected = (deadline: number): Promise<Session> => {
    if (current !== undefined) return current;
    const session: Promise<Session> = connect(options, deadline, () => drop(session));
    current = session;
    session.catch(() => {
      if (current === session) current = undefined;
    });
    return session;
  };

  return {
    async query(statement, values = []) {
      const deadline = performance.now() + options.patienceMs;
      for (;;) {
        if (isClosed) throw closed();
        const pending = connected(deadline);
        const session = await pending;
        try {
          return await send(session, statement, values, options.silenceMs);
        } catch (error) {
          if (!isConnectionLoss(error)) throw error instanceof DatabaseError ? refusedByServer(error) : error;
          session.socket.destroy();
          drop(pending);
          if (performance.now() > deadline) throw unavailable(error);
        }
      }
    },

    async close() {
      isClosed = true;
      const session = await current?.catch(() => undefined);
      current = undefined;
      await session?.client.end().catch(() => undefined);
    },
  };
}

async function send(
  { client, socket }: Session,
  statement: Statement,
  values: readonly Parameter[],
  silenceMs: number,
): Promise<readonly Row[]> {
  const giveUp = (): void => void socket.destroy(new Error(`no answer in ${silenceMs} ms`));
  const timer = statement.isSlow ? undefined : setTimeout(giveUp, silenceMs);
  try {
    return (await client.query<Row>(bind(statement, values))).rows;
  } finally {
    clearTimeout(timer);
  }
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const CONNECT_TIMEOUT_MS = 10_000;

async function connect(options: ConnectionOptions, deadline: number, onEnd: () => void): Promise<Session> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const session = makeSession(options);
    try {
      await session.client.connect();
      await options.setUp(session.client);
      session.client.once('end', onEnd);
      return session;
    } catch (error) {
      session.socket.destroy();
      if (error instanceof PostgresProblem) throw error;
      if (!isConnectionLoss(error)) throw error instanceof DatabaseError ? refusedByServer(error) : error;
      if (performance.now() + pauseMs > deadline) throw unavailable(error);
    }
    await delay(pauseMs);
  }
}

function makeSession(options: ConnectionOptions): Session {
  const socket = new Socket();
  const client = new Client({
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    stream: () => socket,
  });
  // A client without a listener would end the process; whoever waits for an answer learns of the loss by its rejection.
  client.on('error', () => undefined);
  client.on('notification', ({ channel }) => options.onNotification?.(channel));
  return { client, socket };
}
