import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { type Fields, fieldsOf, textOf } from '../../protocol/shape/read-unknown.ts';

export interface FollowedEntry {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly data: Fields;
  /** The whole entry. */
  readonly json: string;
}

export interface FollowOptions {
  readonly after: number;
  readonly signal: AbortSignal;
  /** How long a daemon may be unavailable before the stream ends. A restart takes less. */
  readonly awayMs?: number;
  /** Entries that do not match are not parsed, and are yielded without time and data. */
  readonly isWanted?: (json: string) => boolean;
}

/**
 * Yields entries as they are recorded. Starts no daemon, because the user may have stopped it, but reconnects to a
 * restarted one. Returns the error that ended the stream; undefined if `signal` aborted.
 */
export async function* followEntries(
  client: Pick<Client, 'events'>,
  { after, signal, awayMs = AWAY_MS, isWanted }: FollowOptions,
): AsyncGenerator<FollowedEntry, ApiError | undefined> {
  const stream = client.events({ after, signal, awayMs });
  try {
    for (let next = await stream.next(); ; next = await stream.next()) {
      if (next.done === true) return next.value;
      const { seq, type, json } = next.value;
      const { at, data } = isWanted?.(json) === false ? {} : fieldsOf(JSON.parse(json));
      yield { seq, type, json, at: textOf(at), data: fieldsOf(data) };
    }
  } finally {
    // Closes the connection if the consumer stops early.
    await stream.return(undefined);
  }
}

export async function readHeadSeq(client: Pick<Client, 'call'>): Promise<number> {
  const answer = await client.call('ledger_head', {});
  return answer.ok ? answer.result.size : 0;
}

/** Makes Ctrl-C abort the signal instead of the process, so that the command can report what continues. */
export function untilInterrupted(): { readonly signal: AbortSignal; readonly [Symbol.dispose]: () => void } {
  const controller = new AbortController();
  const onInterrupt = (): void => controller.abort();
  process.once('SIGINT', onInterrupt);
  return { signal: controller.signal, [Symbol.dispose]: () => void process.off('SIGINT', onInterrupt) };
}

const AWAY_MS = 15_000;
