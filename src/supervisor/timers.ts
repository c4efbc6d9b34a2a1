import type { Launch } from './contract.ts';

/** The timers of a process, from its start to its exit. Each silence is reported once; activity starts the next one. */
export class AgentTimers {
  readonly #idle: NodeJS.Timeout | undefined;
  readonly #others: NodeJS.Timeout[] = [];
  readonly #onTimeout: () => void;
  /** Milliseconds left until the timeout; undefined if none is set. */
  #leftMs: number | undefined;
  #timeout: NodeJS.Timeout | undefined;
  #sinceMs = 0;
  #isPaused = false;

  constructor(
    { idle_ms, renew_ms, timeout_ms, report_ms }: Pick<Launch, 'idle_ms' | 'renew_ms' | 'timeout_ms' | 'report_ms'>,
    on: Readonly<Record<'onSilence' | 'onRenewal' | 'onReport' | 'onTimeout', () => void>>,
  ) {
    if (idle_ms !== null) this.#idle = setTimeout(() => this.#isPaused || on.onSilence(), idle_ms);
    if (report_ms !== undefined) this.#others.push(setInterval(on.onReport, report_ms));
    if (renew_ms !== null) this.#others.push(setInterval(on.onRenewal, renew_ms));
    this.#onTimeout = on.onTimeout;
    if (timeout_ms !== null && timeout_ms <= MAX_TIMER_MS) this.#leftMs = timeout_ms;
    this.#runTimeout();
  }

  onActivity(): void {
    // `refresh` also restarts a timer that has fired.
    this.#idle?.refresh();
  }

  /** Pauses the timeout and the measurement of silence, because the process is frozen. */
  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#timeout);
    if (this.#leftMs !== undefined) this.#leftMs -= performance.now() - this.#sinceMs;
  }

  resume(): void {
    this.#isPaused = false;
    this.onActivity();
    this.#runTimeout();
  }

  stop(): void {
    for (const timer of [this.#idle, this.#timeout, ...this.#others]) clearTimeout(timer);
  }

  #runTimeout(): void {
    if (this.#leftMs === undefined) return;
    this.#sinceMs = performance.now();
    this.#timeout = setTimeout(this.#onTimeout, Math.max(0, this.#leftMs));
  }
}

/** The longest delay of a Node timer; a longer limit counts as no limit. */
const MAX_TIMER_MS = 2_147_483_647;

/** Waits for output that the process printed before its hook call, which may still be in the pipe. */
export async function drainOutput(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
