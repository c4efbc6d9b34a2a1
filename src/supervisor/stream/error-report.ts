import type { AgentErrorEvent } from '../../streams/stream-event.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';

type Errored = Extract<AgentReport, { kind: 'errored' }>;

/** Combines the reports of an API error, which arrives in the client's stream and at its hook, into one. */
export class ErrorReport {
  #error: AgentErrorEvent | undefined;
  #hooked: Errored | undefined;
  #reportedBy: 'stream' | 'hook' | undefined;
  #onSaid: (() => void) | undefined;

  /** Adds an error from the stream or from the process's exit. An error with a kind replaces one without. */
  addStreamError(error: AgentErrorEvent): void {
    if (error.isRetrying || (error.error === null && this.#error !== undefined)) return;
    this.#error = error;
    if (error.error !== null) this.#onSaid?.();
  }

  /** Adds an error from the hook. `isSure`: the stream has no further details. */
  async addHookError(report: Errored, isSure: boolean): Promise<Errored | undefined> {
    const reportedBy = this.#reportedBy;
    if (reportedBy !== undefined) this.clear();
    // The stream's report came first.
    if (reportedBy === 'stream') return undefined;
    this.#hooked = report;
    if (!isSure) await this.#waitForStream();
    const found = this.takeReport('hook');
    if (found === undefined) this.clear();
    return found;
  }

  /** Takes the error to report; undefined if it was already reported, or is unclassified (waiting will not help). */
  takeReport(by: 'stream' | 'hook' = 'stream'): Errored | undefined {
    const error = this.#error?.error ?? this.#hooked?.error;
    if (this.#reportedBy !== undefined || error === undefined || error === null) return undefined;
    this.#reportedBy = by;
    const message = this.#error?.message ?? this.#hooked?.message ?? '';
    return { kind: 'errored', error, message, reset_at: this.#error?.resetAt ?? this.#hooked?.reset_at ?? null };
  }

  get lastMessage(): string | null {
    return this.#error?.message ?? null;
  }

  /** Clears the error, because the agent works again: the next error is a new one. */
  clear(): void {
    this.#error = undefined;
    this.#hooked = undefined;
    this.#reportedBy = undefined;
  }

  async #waitForStream(): Promise<void> {
    if (this.#error !== undefined && this.#error.error !== null) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, STREAM_MS);
      this.#onSaid = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#onSaid = undefined;
  }
}

/** The stream and the hook report an error at about the same time. */
const STREAM_MS = 300;
