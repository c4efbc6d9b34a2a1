import { labelValue } from './label-value.ts';
import { TELEMETRY_LIMITS } from './limits.ts';
import { OpenTrace } from './open-trace.ts';
import type { Attributes, FinishedTrace, SpanKind } from './spans.ts';

export interface NewSpan {
  readonly kind: SpanKind;
  /** An id that is unique within its kind. */
  readonly id: string;
  /** The parent's key; undefined for the root of a new trace. */
  readonly parent?: string | undefined;
  readonly name: string | null;
  readonly at: string;
  readonly attributes: Attributes;
}

/** The open traces of one project, found by any of their spans. */
export class OpenTraces {
  readonly #project: string;
  readonly #traces = new Map<string, OpenTrace>();
  readonly #ofSpan = new Map<string, OpenTrace>();
  /** Traces whose root has ended. */
  readonly #ending = new Set<OpenTrace>();

  constructor(project: string) {
    this.#project = project;
  }

  get size(): number {
    return this.#traces.size;
  }

  has(key: string): boolean {
    return this.#ofSpan.has(key);
  }

  /** Begins a span. A span whose parent is in no trace is dropped: its trace began before the folded entries. */
  begin({ kind, id, parent, name, at, attributes }: NewSpan): void {
    const key = spanKey(kind, id);
    const about = { 'baton.project': this.#project, ...attributes };
    const title = name === null ? kind : `${kind} ${labelValue(name)}`;
    const span = { key, kind, name: title, startMs: Date.parse(at), attributes: about };
    if (parent === undefined) return this.#open(new OpenTrace({ ...span, parent: null }));
    const trace = this.#ofSpan.get(parent);
    if (trace?.begin({ ...span, parent }) === true) this.#ofSpan.set(key, trace);
  }

  end(key: string, at: string, outcome: string, attributes: Attributes = {}): void {
    const trace = this.#ofSpan.get(key);
    trace?.end(key, Date.parse(at), outcome, attributes);
    if (trace?.rootKey === key) this.#ending.add(trace);
  }

  describe(key: string, attributes: Attributes): void {
    this.#ofSpan.get(key)?.describe(key, attributes);
  }

  /** Removes and returns the traces that are finished at this time. */
  takeFinished(at: string): FinishedTrace[] {
    if (this.#ending.size === 0) return [];
    const nowMs = Date.parse(at);
    const over = [...this.#ending].filter((trace) => trace.isOver(nowMs));
    for (const trace of over) this.#forget(trace);
    return over.flatMap((trace) => trace.finish(this.#project) ?? []);
  }

  #open(trace: OpenTrace): void {
    const before = this.#traces.get(trace.rootKey);
    if (before !== undefined) this.#forget(before);
    this.#traces.set(trace.rootKey, trace);
    this.#ofSpan.set(trace.rootKey, trace);
    const [oldest] = this.#traces.values();
    if (this.#traces.size > TELEMETRY_LIMITS.openTraces && oldest !== undefined) this.#forget(oldest);
  }

  #forget(trace: OpenTrace): void {
    for (const key of trace.keys) this.#ofSpan.delete(key);
    this.#traces.delete(trace.rootKey);
    this.#ending.delete(trace);
  }
}

export function spanKey(kind: SpanKind, id: string): string {
  return `${kind}/${id}`;
}

/** The host of a fleet that runs it; empty with SQLite. */
export function hostOf({ host }: { readonly host?: string | undefined }): Attributes {
  return host === undefined ? {} : { 'baton.host': labelValue(host) };
}
