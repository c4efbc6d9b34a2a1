import type { Launch } from './contract.ts';

export interface AgentTimerOptions {
  readonly launch: Pick<Launch, 'idle_ms' | 'renew_ms' | 'timeout_ms' | 'report_ms'>;
  readonly onSilence: () => void;
  readonly onRenewal: () => void;
  /** The daemon is to hear that this supervisor lives. */
  readonly onReport: () => void;
  readonly onTimeout: () => void;
}

/** What happens to a process because time goes by, from its start to its end. */
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

  /** Something was said or heard. */
  onActivity(): void {
    this.#idle.restart();
  }

  stop(): void {
    this.#idle.stop();
    for (const timer of this.#timers) clearTimeout(timer);
  }
}

/** The longest that a timer can wait; whoever allows more has set no limit. */
const MAX_TIMER_MS = 2_147_483_647;

/** Notices silence. Each silence is told once; whatever is said or heard begins the next one. */
export class IdleTimer {
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(idleMs: number | null, onIdle: () => void) {
    if (idleMs !== null) this.#timer = setTimeout(onIdle, idleMs);
  }

  restart(): void {
    // Also after it has fired: a timer that is refreshed runs once more.
    this.#timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Not `node:timers/promises`: a supervisor loads no module that it can do without. */
export async function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** What it printed before it asked lies in its pipe, and may come up behind the question. */
export async function drainOutput(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
