import { Socket } from 'node:net';
import { Client } from 'pg';
import { createQuery, PARSERS, type QueryResult, type Parameter, type Statement } from './statement.ts';

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  /** How long the server may be silent before the connection counts as lost: a cut cable sends no message. */
  readonly silenceMs: number;
  /** Runs before any statement; what it throws (but a loss) reaches the statement's caller. */
  setUp(client: Client): Promise<void>;
  onNotification?(channel: string): void;
}

/** A connection as long as it lasts. Once anything goes wrong on it, it is not used again. */
export interface PostgresSession {
  send(statement: Statement, values: readonly Parameter[]): Promise<QueryResult>;
  /** Lets what was sent be answered, and ends. */
  close(): Promise<void>;
  /** Ends at once. */
  destroy(): void;
}

export async function openPostgresSession(
  options: SessionOptions,
  connectTimeoutMs: number,
  onEnd: () => void,
): Promise<PostgresSession> {
  // The socket is our own, because the driver has no way to give up on a connection at once.
  const socket = new Socket();
  const client = new Client({
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: PARSERS,
    stream: () => socket,
  });
  // A client without a listener would end the process; whoever waits for an answer learns of the loss by its rejection.
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
    /** One after the other: the time that the server may take counts from when it has the statement. */
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
