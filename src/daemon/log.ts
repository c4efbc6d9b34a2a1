import { appendFileSync, closeSync, openSync, renameSync, statSync } from 'node:fs';
import { redactText } from '../ledger/redact.ts';
import { isShortage } from '../protocol/resource-faults.ts';
import { SERVER_LIMITS } from './limits.ts';

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A log of JSON lines. Records the outcome of calls, not their content, and redacts credentials quoted in errors. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields & { readonly cause?: string }): void;
}

/**
 * Opens a log file. One older file of the same size is kept. Lines are written synchronously, so that those before a
 * crash are on disk.
 */
export function openLog(path: string, options: { readonly echo?: (line: string) => void } = {}): Log {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const spare = new SpareDescriptor();
  let second = 0;
  let lines = 0;
  const write = (level: 'info' | 'error', message: string, fields: LogFields): void => {
    const now = Date.now();
    if (Math.floor(now / 1000) !== second) [second, lines] = [Math.floor(now / 1000), 0];
    // A caller that fails a thousand times a second must not fill the log.
    if (++lines > SERVER_LIMITS.logLinesPerSecond) return;
    const about = { at: new Date(now).toISOString(), level, message, pid: process.pid, ...withoutSecrets(fields) };
    const line = `${JSON.stringify(about)}\n`;
    options.echo?.(line);
    try {
      if (size + line.length > SERVER_LIMITS.logBytes) {
        renameSync(path, `${path}.1`);
        size = 0;
      }
      spare.runWithSpare(() => appendFileSync(path, line, { mode: 0o600 }));
      size += line.length;
    } catch {
      // A full disk must not stop the daemon.
    }
  };
  return {
    info: (message, fields = {}) => write('info', message, fields),
    error: (message, fields = {}) => write('error', message, fields),
  };
}

function withoutSecrets(fields: LogFields): LogFields {
  const clean = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? redactText(value) : value,
  ]);
  return Object.fromEntries(clean) as LogFields; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function causeOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Logs a repeated error at once, then at most once a minute with a count. */
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

/** Holds a spare file descriptor, so that running out of descriptors can still be logged. */
class SpareDescriptor {
  #spare = openSpare();

  runWithSpare(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!isShortage(error) || this.#spare === undefined) throw error;
      closeSync(this.#spare);
      this.#spare = undefined;
      work();
    } finally {
      this.#spare ??= openSpare();
    }
  }
}

function openSpare(): number | undefined {
  try {
    return openSync('/dev/null', 'r');
  } catch {
    return undefined;
  }
}

const PAUSE_MS = 60_000;
