import { TELEMETRY_LIMITS } from './limits.ts';
import { type Attributes, type FinishedTrace, isErrorOutcome, type SpanRecord } from './spans.ts';

/** One open trace. It is finished when its root and every other span have ended. */
export class OpenTrace {
  readonly rootKey: string;
  readonly #spans = new Map<string, SpanRecord>();
  #open = 0;
  #dropped = 0;

  constructor(root: Omit<SpanRecord, 'endMs' | 'isError'>) {
    this.rootKey = root.key;
    this.begin(root);
  }

  get keys(): readonly string[] {
    return [...this.#spans.keys()];
  }

  /** Adds a span. Returns whether there was room for it. */
  begin(span: Omit<SpanRecord, 'endMs' | 'isError'>): boolean {
    if (this.#spans.has(span.key)) return false;
    if (this.#spans.size >= TELEMETRY_LIMITS.spansPerTrace) {
      this.#dropped += 1;
      return false;
    }
    this.#spans.set(span.key, { ...span, endMs: null, isError: false });
    this.#open += 1;
    return true;
  }

  /** Ends a span. A second end changes nothing. */
  end(key: string, endMs: number, outcome: string, attributes: Attributes = {}): void {
    const span = this.#spans.get(key);
    if (span === undefined || span.endMs !== null) return;
    // Clocks can be set back.
    const end = Math.max(span.startMs, endMs);
    const about = { ...span.attributes, ...attributes, 'baton.outcome': outcome };
    this.#spans.set(key, { ...span, endMs: end, isError: isErrorOutcome(outcome), attributes: about });
    this.#open -= 1;
  }

  /** Adds attributes, even after the span's end: a supervisor reports an agent's last usage late. */
  describe(key: string, attributes: Attributes): void {
    const span = this.#spans.get(key);
    if (span !== undefined) this.#spans.set(key, { ...span, attributes: { ...span.attributes, ...attributes } });
  }

  isOver(nowMs: number): boolean {
    const endMs = this.#spans.get(this.rootKey)?.endMs ?? null;
    return endMs !== null && (this.#open === 0 || nowMs - endMs > TELEMETRY_LIMITS.lateSpansMs);
  }

  /** Finishes the trace. A span that is still open keeps `endMs` null. */
  finish(project: string): FinishedTrace | undefined {
    if (this.#dropped > 0) this.describe(this.rootKey, { 'baton.spans.dropped': this.#dropped });
    const root = this.#spans.get(this.rootKey);
    return root && { project, root, spans: [...this.#spans.values()] };
  }
}
