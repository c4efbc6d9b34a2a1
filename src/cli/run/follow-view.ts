import type { Answer, ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import { delay } from '../../api/client/http.ts';
import { followEntries, type FollowedEntry } from './follow-entries.ts';

export interface ViewListener<V> {
  /**
   * Called after each change, and when the daemon is available again. `askedAt` is when the view was requested, in
   * epoch milliseconds.
   */
  readonly onView: (view: V, askedAt: number) => void;
  /** Called if the daemon does not answer. The last view may be outdated. */
  readonly onAway: (why: ApiError) => void;
  readonly onEntry?: (entry: FollowedEntry) => void;
}

export interface FollowViewOptions<V> {
  readonly read: (signal: AbortSignal) => Promise<Answer<V>>;
  readonly signal: AbortSignal;
  /** Why the daemon was not reached before. Reported first. */
  readonly unreached?: ApiError | undefined;
  /** Entries after this one are reported. Defaults to those after the first view. */
  readonly after?: number;
}

/**
 * Reports after each change until `signal` aborts. Also polls, because silence does not prove that nothing has changed.
 */
export async function followView<V extends { readonly seq: number }>(
  client: Pick<Client, 'events'>,
  { read, signal, unreached, after }: FollowViewOptions<V>,
  listener: ViewListener<V>,
): Promise<void> {
  if (unreached !== undefined) listener.onAway(unreached);
  // The newest reported entry: a restarted daemon may have recorded more before the client reconnects.
  let seq = after;
  const onEntry = (entry: FollowedEntry): void => {
    ({ seq } = entry);
    listener.onEntry?.(entry);
  };
  while (!signal.aborted) {
    const askedAt = Date.now();
    const answer = await read(signal);
    if (signal.aborted) return;
    if (!answer.ok) {
      listener.onAway(answer.error);
      await sleep(RETRY_MS, signal);
      continue;
    }
    listener.onView(answer.result, askedAt);
    seq ??= answer.result.seq;
    const why = await followFrom(seq, client, { read, signal }, { ...listener, onEntry });
    if (why !== undefined) listener.onAway(why);
    await sleep(RETRY_MS, signal);
  }
}

/** Follows while the daemon answers. Returns why it no longer does. */
async function followFrom<V>(
  seq: number,
  client: Pick<Client, 'events'>,
  { read, signal }: Pick<FollowViewOptions<V>, 'read' | 'signal'>,
  listener: ViewListener<V>,
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
    const answer = await read(until);
    if (until.aborted) return;
    if (answer.ok) listener.onView(answer.result, askedAt);
    else lose(answer.error);
  }, until);
  // Some needs for a person have no entry: a runbook can become invalid without one.
  const pulse = setInterval(() => refresh.request(), PULSE_MS);
  try {
    const entries = followEntries(client, { after: seq, signal: until, awayMs: 0 });
    for (let next = await entries.next(); ; next = await entries.next()) {
      if (next.done === true) return why ?? next.value;
      listener.onEntry?.(next.value);
      refresh.request();
    }
  } finally {
    clearInterval(pulse);
    lost.abort();
  }
}

/** Runs at once if idle. Any number of requests during a run cause one more run. */
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

/** Limits updates to ten a second. */
const SETTLE_MS = 100;
const RETRY_MS = 300;

const PULSE_MS = 3000;
