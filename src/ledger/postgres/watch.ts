import type { Head } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { sql } from './statement.ts';

export interface PostgresHeadWatch {
  add(listener: (head: Head) => void): () => void;
  announce(head: Head): void;
  refresh(): void;
  readonly isWatched: boolean;
  close(): void;
}

/** Calls listeners with the newest head. A notification only triggers a read, so a lost or duplicate one does no harm. */
export function makePostgresHeadWatch(
  connection: PostgresConnection,
  channel: string,
  readHead: () => Promise<Head>,
  catchUpMs: number,
): PostgresHeadWatch {
  const listeners = new Set<(head: Head) => void>();
  let reported = 0;
  let newest: Head | undefined;
  let isReading = false;
  let readAgain = false;
  let timer: NodeJS.Timeout | undefined;

  const deliver = (): void => {
    const head = newest;
    newest = undefined;
    if (head === undefined) return;
    for (const listener of listeners) listener(head);
  };

  const announce = (head: Head): void => {
    if (head.size <= reported) return;
    reported = head.size;
    if (listeners.size === 0) return;
    if (newest === undefined) setImmediate(deliver);
    newest = head;
  };

  const refresh = (): void => {
    if (listeners.size === 0) return;
    readAgain = true;
    if (!isReading) void readUntilUnchanged();
  };

  const readUntilUnchanged = async (): Promise<void> => {
    isReading = true;
    while (readAgain && listeners.size > 0) {
      readAgain = false;
      // If the server is unavailable, the timer and the next reconnect read again.
      await readHead().then(announce, () => undefined);
    }
    isReading = false;
  };

  const listen = async (): Promise<void> => {
    await connection.query(sql('listen')`LISTEN ${channel}`).catch(() => undefined);
    refresh();
  };

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    add(listener) {
      // Wrapped, so that a listener added twice is removed once per call.
      const own = (head: Head): void => listener(head);
      listeners.add(own);
      if (timer === undefined) {
        timer = setInterval(refresh, catchUpMs).unref();
        void listen();
      }
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    announce,
    refresh,
    get isWatched() {
      return listeners.size > 0;
    },
    close() {
      listeners.clear();
      stop();
    },
  };
}

export interface CommitNotifier {
  announce(channel: string): void;
  close(): Promise<void>;
}

/** NOTIFY takes a lock that all appends share, so it follows the commit, at most once per `everyMs` for all projects. */
export function makeCommitNotifier(connection: PostgresConnection, everyMs: number): CommitNotifier {
  const channels = new Set<string>();
  let lastMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> = Promise.resolve();

  const send = (): void => {
    timer = undefined;
    lastMs = performance.now();
    const list = `{${[...channels].join()}}`;
    channels.clear();
    // If this fails, the listeners have lost the server too, and read the head when they reconnect.
    sending = connection.query(NOTIFY, [list]).catch(() => undefined);
  };

  return {
    announce(channel) {
      channels.add(channel);
      if (timer !== undefined) return;
      const waitMs = lastMs + everyMs - performance.now();
      if (waitMs <= 0) send();
      else timer = setTimeout(send, waitMs);
    },
    async close() {
      clearTimeout(timer);
      if (channels.size > 0) send();
      await sending;
    },
  };
}

const NOTIFY = sql('notify')`SELECT pg_notify(channel, '') FROM unnest($1::text[]) AS channel`;
