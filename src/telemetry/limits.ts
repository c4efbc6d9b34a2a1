/** Telemetry may lose what is over a limit. It must never grow with the ledger. */
export const TELEMETRY_LIMITS = {
  /** Claims, decisions and other things under way that one project measures. The oldest are forgotten. */
  underWay: 10_000,
  /** Sets of label values per metric. Further ones count under `other`. */
  seriesPerInstrument: 200,
  openTraces: 1000,
  spansPerTrace: 1000,
  /** How long a trace waits for spans that outlive its root, by the time of the entries. */
  lateSpansMs: 10 * 60_000,
  /** Entries that a daemon reads again when it starts, to know the traces under way. */
  replayedEntries: 50_000,
} as const;
