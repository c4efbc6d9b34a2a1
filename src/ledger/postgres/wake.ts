import type { Connection } from './connection.ts';

export interface Wake {
  /** Tells the other processes, soon, that there is something new. */
  announce(): void;
  /** Sends what is still to be sent. */
  close(): Promise<void>;
}

/**
 * NOTIFY after the commit and never inside it (that takes a lock which all appends of all projects share), at most one
 * in `everyMs`. A process that dies between commit and NOTIFY tells nobody: watchers look at the head now and then.
 */
export function makeWake(connection: Connection, channel: string, everyMs: number): Wake {
  let lastMs = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  const send = (): void => {
    timer = undefined;
    lastMs = performance.now();
    sending = connection.query(NOTIFY, [channel]).then(
      () => undefined,
      // The server was away for longer than patience lasts. Whoever listens has lost it too, and reads the head.
      () => undefined,
    );
  };

  return {
    announce() {
      if (timer !== undefined) return;
      const waitMs = lastMs + everyMs - performance.now();
      if (waitMs <= 0) send();
      else timer = setTimeout(send, waitMs);
    },
    async close() {
      if (timer !== undefined) {
        clearTimeout(timer);
        send();
      }
      await sending;
    },
  };
}

const NOTIFY = { name: 'notify', text: `SELECT pg_notify($1, '')` };
