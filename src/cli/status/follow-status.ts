import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { StatusView } from '../../api/run-views.ts';
import { delay } from '../../api/client/http.ts';
import { followEntries, type FollowedEntry } from '../run/follow-entries.ts';

export interface StatusListener {
  /** Something has changed, or the daemon is there again. `askedAt` is how old the answer may be, in milliseconds of the epoch. */
  readonly onStatus: (status: StatusView, askedAt: number) => void;
  /** There is no answer: what was shown last may not be so any more. */
  readonly onAway: (why: ApiError) => void;
  /** Each entry as it is recorded, none twice. */
  readonly onEntry: (entry: FollowedEntry) => void;
}

/**
 * How things stand, whenever that changes, until it is called off. The daemon's events say that there is something new; a burst of
 * them is one question. A daemon that is there but silent is asked now and then: no news must not pass for good news.
 */
export async function followStatus(
  client: Client,
  { unreached, signal }: { readonly unreached: ApiError | undefined; readonly signal: AbortSignal },
  listener: StatusListener,
): Promise<void> {
  if (unreached !== undefined) listener.onAway(unreached);
  // Of the newest entry that was told; a daemon that comes back may have recorded more before it is found again.
  let seq: number | undefined;
  const onEntry = (entry: FollowedEntry): void => {
    ({ seq } = entry);
    listener.onEntry(entry);
  };
  while (!signal.aborted) {
    const askedAt = Date.now();
    const answer = await client.call('status_get', {}, { signal });
    if (signal.aborted) return;
    if (!answer.ok) {
      listener.onAway(answer.error);
      await sleep(RETRY_MS, signal);
      continue;
    }
    listener.onStatus(answer.result, askedAt);
    seq ??= answer.result.seq;
    const why = await followFrom(seq, client, signal, { ...listener, onEntry });
    if (why !== undefined) listener.onAway(why);
    await sleep(RETRY_MS, signal);
  }
}

/** Follows for as long as the daemon answers; gives back why it does not. */
async function followFrom(
  seq: number,
  client: Client,
  signal: AbortSignal,
  listener: StatusListener,
): Promise<ApiError | undefined> {
  const lost = new AbortController();
  const until = AbortSignal.any([signal, lost.signal]);
  let why: ApiError | undefined;
  const lose = (reason: ApiError): void => {
    if (until.aborted) return;
    why = reason;
    lost.abort();
  };
  const refresh = new Refresh(async () => {
    const askedAt = Date.now();
    const answer = await client.call('status_get', {}, { signal: until });
    if (until.aborted) return;
    if (answer.ok) listener.onStatus(answer.result, askedAt);
    else lose(answer.error);
  }, until);
  // Also because not everything that needs a person is recorded: a runbook breaks without an entry.
  const pulse = setInterval(() => refresh.request(), PULSE_MS);
  try {
    const entries = followEntries(client, { after: seq, signal: until, awayMs: 0 });
    for (let next = await entries.next(); ; next = await entries.next()) {
      if (next.done === true) return why ?? next.value;
      listener.onEntry(next.value);
      refresh.request();
    }
  } finally {
    clearInterval(pulse);
    lost.abort();
  }
}

/** Asks at once where nothing is under way, and once more after what is: never more often than it makes sense to look. */
class Refresh {
  readonly #do: () => Promise<void>;
  readonly #signal: AbortSignal;
  #state: 'idle' | 'busy' | 'again' = 'idle';

  constructor(run: () => Promise<void>, signal: AbortSignal) {
    this.#do = run;
    this.#signal = signal;
  }

  request(): void {
    if (this.#state === 'idle') void this.#run();
    else this.#state = 'again';
  }

  async #run(): Promise<void> {
    do {
      this.#state = 'busy';
      await this.#do();
      await sleep(SETTLE_MS, this.#signal);
    } while (this.#isAsked() && !this.#signal.aborted);
    this.#state = 'idle';
  }

  #isAsked(): boolean {
    return this.#state === 'again';
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  await Promise.race([delay(ms), promise]);
  signal.removeEventListener('abort', onAbort);
}

/** Ten pictures a second are as good as more. */
const SETTLE_MS = 100;
const RETRY_MS = 300;
const PULSE_MS = 3000;
