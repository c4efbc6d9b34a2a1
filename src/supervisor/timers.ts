import type { Launch } from './contract.ts';

export interface AgentTimerOptions {
  readonly launch: Pick<Launch, 'idle_ms' | 'renew_ms' | 'timeout_ms' | 'report_ms'>;
  readonly onSilence: () => void;
  readonly onRenewal: () => void;
  /** Called when the daemon should learn that this supervisor lives. */
  readonly onReport: () => void;
  readonly onTimeout: () => void;
}

/** The timers of a process, from its start to its exit. */
export class AgentTimers {
  readonly #idle: IdleTimer;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor({ launch, onSilence, onRenewal, onReport, onTimeout }: AgentTimerOptions) {
    const { idle_ms, renew_ms, timeout_ms, report_ms } = launch;
    this.#idle = new IdleTimer(idle_ms, onSilence);
    if (report_ms !== undefined) this.#timers.push(setInterval(onReport, report_ms));
    if (renew_ms !== null) this.#timers.push(setInterval(onRenewal, renew_ms));
    if (timeout_ms !== null && timeout_ms <= MAX_TIMER_MS) this.#timers.push(setTimeout(onTimeout, timeout_ms));
  }

  onActivity(): void {
    this.#idle.restart();
  }

  stop(): void {
    this.#idle.stop();
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/** The longest delay of a timer; a longer limit is no limit. */
const MAX_TIMER_MS = 2_147_483_647;

/** Detects silence. Each silence is reported once; activity starts the next one. */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(idleMs: number | null, onIdle: () => void) {
    if (idleMs !== null) this.#timer = setTimeout(onIdle, idleMs);
  }

  restart(): void {
    // `refresh` also restarts a timer that has fired.
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Lets output that the process printed before its hook call arrive: it may still be in the pipe. */
export async function drainOutput(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
