import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { delay } from '../../api/client/http.ts';
import { type Fields, fieldsOf } from '../../protocol/shape/read-unknown.ts';

export interface FollowedEntry {
  readonly seq: number;
  readonly type: string;
  readonly data: Fields;
  /** The whole entry. */
  readonly json: string;
}

export interface FollowOptions {
  /** Only entries after this number. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** How long a daemon may be away before it is given up; a restart is shorter. */
  readonly awayMs?: number;
}

/**
 * Entries as they are recorded. Whoever follows starts no daemon: one that was stopped on purpose stays stopped, and one that is started
 * anew is found again. What it returns is why it ended; undefined where it was called off.
 */
export async function* followEntries(
  client: Client,
  { after, signal, awayMs = AWAY_MS }: FollowOptions,
): AsyncGenerator<FollowedEntry, ApiError | undefined> {
  let seq = after;
  let heardAt = performance.now();
  while (!signal.aborted) {
    const stream = client.events({ after: seq, signal });
    try {
      for (let next = await stream.next(); ; next = await stream.next()) {
        if (next.done === true) {
          const error = next.value;
          const isAway = error?.code === 'daemon-away' && performance.now() - heardAt < awayMs;
          if (error !== undefined && !isAway) return error;
          break;
        }
        ({ seq } = next.value);
        heardAt = performance.now();
        const { type, json } = next.value;
        yield { seq, type, json, data: fieldsOf(fieldsOf(JSON.parse(json))['data']) };
      }
    } finally {
      // Whoever has heard enough leaves no connection open.
      await stream.return(undefined);
    }
    // Another process starts: there is no event to wait for.
    if (!signal.aborted) await delay(RETRY_MS);
  }
  return undefined;
}

/** The number of the newest entry. */
export async function readHeadSeq(client: Client): Promise<number> {
  const answer = await client.call('ledger_head', {});
  return answer.ok ? answer.result.size : 0;
}

const AWAY_MS = 15_000;
const RETRY_MS = 200;

/** A signal for as long as a command waits: Ctrl-C ends the waiting, and the command says what becomes of what it waited for. */
export function untilInterrupted(): { readonly signal: AbortSignal; readonly [Symbol.dispose]: () => void } {
  const controller = new AbortController();
  const onInterrupt = (): void => controller.abort();
  process.once('SIGINT', onInterrupt);
  return { signal: controller.signal, [Symbol.dispose]: () => void process.off('SIGINT', onInterrupt) };
}
