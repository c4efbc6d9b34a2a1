import type { PostgresConnection } from './connection.ts';

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
