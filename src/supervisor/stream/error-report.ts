import type { AgentErrorEvent } from '../../streams/stream-event.ts';
import type { AgentReport } from '../../protocol/agent-report.ts';

type Errored = Extract<AgentReport, { kind: 'errored' }>;

/**
 * An API error reaches us twice: in the client's stream, with the kind and the end of a limit as fields, and at its hook, as a word. It is
 * told once, with the best of both.
 */
export class ErrorReport {
  #said: AgentErrorEvent | undefined;
  #hooked: Errored | undefined;
  /** Who had the last word when it was told. */
  #toldBy: 'stream' | 'hook' | undefined;
  #onSaid: (() => void) | undefined;

  /** What the stream, or the end of the process, says. Of two, the one that has a kind counts. */
  addStreamError(said: AgentErrorEvent): void {
    if (said.isRetrying || (said.error === null && this.#said !== undefined)) return;
    this.#said = said;
    if (said.error !== null) this.#onSaid?.();
  }

  /** What the hook says; `isSure` where nothing better can come. */
  async addHookError(report: Errored, isSure: boolean): Promise<Errored | undefined> {
    const toldBy = this.#toldBy;
    if (toldBy !== undefined) this.clear();
    // The end of the turn was there before its hook.
    if (toldBy === 'stream') return undefined;
    this.#hooked = report;
    if (!isSure) await this.#waitForStream();
    const found = this.takeReport('hook');
    if (found === undefined) this.clear();
    return found;
  }

  /** What is to be told; undefined where it was told, or where nobody knows what it is: then it is no matter of waiting. */
  takeReport(by: 'stream' | 'hook' = 'stream'): Errored | undefined {
    const error = this.#said?.error ?? this.#hooked?.error;
    if (this.#toldBy !== undefined || error === undefined || error === null) return undefined;
    this.#toldBy = by;
    const message = this.#said?.message ?? this.#hooked?.message ?? '';
    return { kind: 'errored', error, message, reset_at: this.#said?.resetAt ?? this.#hooked?.reset_at ?? null };
  }

  /** The message of the last error, for whoever reads the end of the process. */
  get lastMessage(): string | null {
    return this.#said?.message ?? null;
  }

  /** It works again: the next error is another one. */
  clear(): void {
    this.#said = undefined;
    this.#hooked = undefined;
    this.#toldBy = undefined;
  }

  async #waitForStream(): Promise<void> {
    if (this.#said !== undefined && this.#said.error !== null) return;
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

/** The stream and the hook leave the client at the same moment. */
const STREAM_MS = 300;
