import type { Head } from '../store.ts';
import type { PostgresConnection } from './connection.ts';

export interface PostgresHeadWatch {
  add(listener: (head: Head) => void): () => void;
  /** A head that this process knows of, without asking the server. */
  tell(head: Head): void;
  /** Something may be new: a notification came, or the connection is new. */
  look(): void;
  /** Whether a new connection has to LISTEN before anything else. */
  readonly isWatched: boolean;
  close(): void;
}

/**
 * Wakes listeners with the newest head, once for any number of commits in between. Notifications only say "look": what
 * counts is the head read afterwards, so one that is lost, or comes twice, does no harm.
 */
export function makePostgresHeadWatch(
  connection: PostgresConnection,
  channel: string,
  readHead: () => Promise<Head>,
  catchUpMs: number,
): PostgresHeadWatch {
  const listeners = new Set<(head: Head) => void>();
  let told = 0;
  let newest: Head | undefined;
  let isLooking = false;
  let lookAgain = false;
  let timer: NodeJS.Timeout | undefined;

  const deliver = (): void => {
    const head = newest;
    newest = undefined;
    if (head === undefined) return;
    for (const listener of listeners) listener(head);
  };

  const tell = (head: Head): void => {
    if (head.size <= told) return;
    told = head.size;
    if (listeners.size === 0) return;
    if (newest === undefined) setImmediate(deliver);
    newest = head;
  };

  const look = (): void => {
    if (listeners.size === 0) return;
    lookAgain = true;
    if (!isLooking) void lookUntilStill();
  };

  const lookUntilStill = async (): Promise<void> => {
    isLooking = true;
    while (lookAgain && listeners.size > 0) {
      lookAgain = false;
      // A server that is away is looked at again by the timer, and by whoever reconnects.
      await readHead().then(tell, () => undefined);
    }
    isLooking = false;
  };

  const listen = async (): Promise<void> => {
    await connection.query({ name: 'listen', text: `LISTEN ${channel}` }).catch(() => undefined);
    look();
  };

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    add(listener) {
      // One listener may be added twice, and each is removed on its own.
      const own = (head: Head): void => listener(head);
      listeners.add(own);
      if (timer === undefined) {
        timer = setInterval(look, catchUpMs).unref();
        void listen();
      }
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    tell,
    look,
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
  /** Tells the other processes, soon, that there is something new on this channel. */
  announce(channel: string): void;
  /** Sends what is still to be sent. */
  close(): Promise<void>;
}

/**
 * NOTIFY after the commit and never inside it (that takes a lock which all appends of all projects share), at most once
 * in `everyMs` for all projects together. A process that dies between commit and NOTIFY tells nobody: watchers look at
 * the head now and then.
 */
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
    // Where the server is away for longer than patience lasts, whoever listens has lost it too, and reads the head.
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

const NOTIFY = { name: 'notify', text: `SELECT pg_notify(channel, '') FROM unnest($1::text[]) AS channel` };
