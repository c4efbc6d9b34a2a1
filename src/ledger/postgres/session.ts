import { Socket } from 'node:net';
import { Client } from 'pg';
import { applySettings } from './settings.ts';
import { createQuery, type Parameter, PARSERS, type QueryResult, type Statement } from './statement.ts';

export interface SessionOptions {
  readonly url: string;
  readonly applicationName: string;
  readonly durable: boolean;
  /** How long the server may be silent before the connection counts as lost: a cut cable sends no message. */
  readonly silenceMs: number;
  /** Runs before any statement. Errors other than a connection loss are returned to the caller of the statement. */
  setUp?(client: Client): Promise<void>;
  onNotification?(channel: string, payload: string, generation: string): void;
}

export interface PostgresSession {
  /** The server, its timeline and its start: see `baton.server_generation`. Empty before the schema exists. */
  readonly generation: string;
  send(statement: Statement, values: readonly Parameter[], deadline: number): Promise<QueryResult>;
  close(): Promise<void>;
  destroy(): void;
}

export async function openPostgresSession(
  options: SessionOptions,
  { signal, onReach, onEnd }: SessionEvents,
): Promise<PostgresSession> {
  // The store creates the socket, because the driver cannot abort a connection attempt at once.
  const socket = new Socket();
  const client = new Client({
    connectionString: options.url,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // A slow statement can notice a cut cable only by keep-alives.
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: PARSERS,
    stream: () => socket,
  });
  // Without a listener an error would end the process; pending statements are rejected anyway.
  client.on('error', () => undefined);
  let generation = '';
  client.on('notification', ({ channel, payload = '' }) => options.onNotification?.(channel, payload, generation));
  const giveUp = destroyAfter(socket, CONNECT_MS + SET_UP_MS);
  const abort = (): void => void socket.destroy();
  signal.addEventListener('abort', abort);
  try {
    await client.connect();
    onReach();
    await applySettings(client, options);
    await options.setUp?.(client);
    generation = await readGeneration(client);
    const session = makeSession(client, socket, generation, options.silenceMs);
    client.once('end', () => onEnd(session));
    return session;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(giveUp);
    signal.removeEventListener('abort', abort);
  }
}

interface SessionEvents {
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  /** Called when the server has accepted the connection. */
  readonly onReach: () => void;
  readonly onEnd: (session: PostgresSession) => void;
}

/** If the network drops an attempt, the next one must start soon. */
const CONNECT_MS = 3000;
const KEEP_ALIVE_MS = 10_000;
/** A migration may wait for another daemon's migration. */
const SET_UP_MS = 15_000;

async function readGeneration(client: Client): Promise<string> {
  const exists = `SELECT to_regprocedure('baton.server_generation()') IS NOT NULL AS yes`;
  if (!(await client.query<{ yes: boolean }>(exists)).rows[0]?.yes) return '';
  const { rows } = await client.query<{ generation: string }>('SELECT baton.server_generation() AS generation');
  return rows[0]?.generation ?? '';
}

function makeSession(client: Client, socket: Socket, generation: string, silenceMs: number): PostgresSession {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  const sendNow = (statement: Statement, values: readonly Parameter[], deadline: number): Promise<QueryResult> => {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) return Promise.reject(new TurnMissed());
    const limitMs = Math.max(Math.min(silenceMs, leftMs), SHORTEST_SILENCE_MS) + sendingMs(values);
    const watch = statement.isSlow ? undefined : watchSilence(socket, limitMs);
    return new Promise((resolve, reject) => {
      client.query(
        createQuery(statement, values, (error, answer) => {
          watch?.stop();
          if (error) reject(error);
          else resolve(answer);
        }),
      );
    });
  };

  return {
    generation,
    /** Statements run one after another, so the time limit starts when the server receives the statement. */
    send(statement, values, deadline) {
      const turn = waiting === 0 ? Promise.resolve() : takeTurn(last, deadline);
      waiting += 1;
      const answer = turn.then(() => sendNow(statement, values, deadline));
      const earlier = last;
      last = answer.catch(() => undefined).then(() => earlier);
      void last.then(() => (waiting -= 1));
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

/** Waits for the earlier statements, up to the deadline: one of them may wait longer for an unreachable server. */
function takeTurn(earlier: Promise<unknown>, deadline: number): Promise<void> {
  if (deadline === Infinity) return earlier.then(() => undefined);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TurnMissed()), deadline - performance.now());
    void earlier.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Earlier statements took all the time of this one. It was not sent, and the connection is good. */
export class TurnMissed extends Error {
  constructor() {
    super('too many statements are waiting');
  }
}

const SHORTEST_SILENCE_MS = 200;

/** The time to send values: a slow network still transfers a megabyte a second. */
function sendingMs(values: readonly Parameter[]): number {
  return values.reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length / 1000 : 0), 0);
}

/** Destroys the socket if nothing has arrived for `limitMs`. A long answer that keeps arriving is not silence. */
function watchSilence(socket: Socket, limitMs: number): { stop(): void } {
  let received = socket.bytesRead;
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const check = (): void => {
    if (isStopped) return;
    if (socket.bytesRead === received) {
      socket.destroy(new Error(`no answer in ${Math.round(limitMs)} ms`));
      return;
    }
    received = socket.bytesRead;
    watch();
  };
  // This process may have been busy for that long, so it reads pending data before it judges.
  const watch = (): void => {
    timer = setTimeout(() => setImmediate(check), limitMs);
  };
  watch();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function destroyAfter(socket: Socket, limitMs: number): NodeJS.Timeout {
  return setTimeout(() => socket.destroy(new Error(`no connection in ${limitMs} ms`)), limitMs);
}
