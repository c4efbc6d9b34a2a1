import type { Launch } from './contract.ts';
import { IdleTimer } from './idle-timer.ts';

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
