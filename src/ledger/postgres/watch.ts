import type { Head } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import { type Announcement, joinAnnouncements, renderAnnouncement } from './pushed-commits.ts';
import { encodeTextArray, sql } from './statement.ts';

export interface PostgresHeadWatch {
  add(listener: (head: Head) => void): () => void;
  announce(head: Head): void;
  refresh(): void;
  /**
   * Handles another process's commit; undefined if the notification does not describe it. Returns whether the commit is
   * known to be new.
   */
  notified(announcement: Announcement | undefined): boolean;
  readonly isWatched: boolean;
  close(): void;
}

/**
 * Calls listeners with the newest head. A lost notification does no harm, because the head is also read at intervals.
 * Nor does a false one, because listeners read the entries themselves.
 */
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

  /** Corrects a head that a notification stated too high. */
  const correct = (head: Head): void => {
    reported = Math.min(reported, head.size);
    announce(head);
  };

  const notified = (announcement: Announcement | undefined): boolean => {
    if (announcement === undefined) refresh();
    const isNews = announcement !== undefined && announcement.head.size > reported;
    if (isNews) announce(announcement.head);
    return isNews;
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
      await readHead().then(correct, () => undefined);
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
    notified,
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
  announce(channel: string, announcement: Announcement): void;
  /** Sends pending announcements at once. */
  hurry(): void;
  close(): Promise<void>;
}

/**
 * Notifies other processes of commits. NOTIFY in an append's transaction would serialise all appends on one lock, so it
 * follows the commit: one at a time for all projects, after `LATER_MS`, or at once after `hurry`, at most once per
 * `everyMs`. Each notification costs every host a fold, so one covers several commits if no process waits for them.
 */
export function makeCommitNotifier(connection: PostgresConnection, everyMs: number): CommitNotifier {
  const waiting = new Map<string, Announcement>();
  let lastMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;
  let isUrgent = false;

  const send = async (): Promise<void> => {
    lastMs = performance.now();
    isUrgent = false;
    const channels = encodeTextArray([...waiting.keys()]);
    const payloads = encodeTextArray([...waiting.values()].map(renderAnnouncement));
    waiting.clear();
    // If this fails, the listeners have lost the server too, and read the head when they reconnect.
    await connection.query(NOTIFY, [channels, payloads]).catch(() => undefined);
    sending = undefined;
    sendSoon();
  };

  const sendSoon = (): void => {
    if (waiting.size === 0 || timer !== undefined || sending !== undefined) return;
    const waitMs = isUrgent ? lastMs + everyMs - performance.now() : Math.max(everyMs, LATER_MS);
    if (waitMs <= 0) sending = send();
    else
      timer = setTimeout(() => {
        timer = undefined;
        sending = send();
      }, waitMs);
  };

  return {
    announce(channel, announcement) {
      waiting.set(channel, joinAnnouncements(waiting.get(channel), announcement));
      sendSoon();
    },
    hurry() {
      if (isUrgent || waiting.size === 0) return;
      isUrgent = true;
      clearTimeout(timer);
      timer = undefined;
      sendSoon();
    },
    async close() {
      clearTimeout(timer);
      await sending;
      clearTimeout(timer);
      if (waiting.size > 0) await send();
    },
  };
}

const LATER_MS = 50;

const NOTIFY = sql('notify')`
  SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS head (channel, payload)`;
