import type { Log, LogFields } from './log.ts';

/** Logs what happens again and again: the first time at once, then at most once a minute with how often it was. */
export class ThrottledLog {
  readonly #log: Log;
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, { untilMs: number; more: number }>();

  constructor(log: Log, nowMs: () => number = () => performance.now()) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  error(message: string, fields: LogFields = {}): void {
    const nowMs = this.#nowMs();
    const seen = this.#seen.get(message);
    if (seen !== undefined && nowMs < seen.untilMs) {
      seen.more += 1;
      return;
    }
    this.#seen.set(message, { untilMs: nowMs + PAUSE_MS, more: 0 });
    this.#log.error(message, seen === undefined || seen.more === 0 ? fields : { ...fields, suppressed: seen.more });
  }
}

const PAUSE_MS = 60_000;
