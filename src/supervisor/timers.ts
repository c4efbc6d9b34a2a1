import type { Launch } from './contract.ts';

/** The timers of a process, from its start to its exit. Each silence is reported once; activity starts the next one. */
export class AgentTimers {
  readonly #idle: NodeJS.Timeout | undefined;
  readonly #others: NodeJS.Timeout[] = [];

  constructor(
    { idle_ms, renew_ms, timeout_ms, report_ms }: Launch,
    on: Readonly<Record<'onSilence' | 'onRenewal' | 'onReport' | 'onTimeout', () => void>>,
  ) {
    if (idle_ms !== null) this.#idle = setTimeout(on.onSilence, idle_ms);
    if (report_ms !== undefined) this.#others.push(setInterval(on.onReport, report_ms));
    if (renew_ms !== null) this.#others.push(setInterval(on.onRenewal, renew_ms));
    if (timeout_ms !== null && timeout_ms <= MAX_TIMER_MS) this.#others.push(setTimeout(on.onTimeout, timeout_ms));
  }

  onActivity(): void {
    // `refresh` also restarts a timer that has fired.
    this.#idle?.refresh();
  }

  stop(): void {
    for (const timer of [this.#idle, ...this.#others]) clearTimeout(timer);
  }
}

/** The longest delay of a timer; a longer limit is no limit. */
const MAX_TIMER_MS = 2_147_483_647;

/** Lets output that the process printed before its hook call arrive: it may still be in the pipe. */
export async function drainOutput(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
