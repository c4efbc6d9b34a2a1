/** Limits of telemetry. It may lose what exceeds a limit, but must never grow with the ledger. */
export const TELEMETRY_LIMITS = {
  /** Open claims, decisions and other measured things of one project. The oldest are dropped. */
  underWay: 10_000,
  /** Sets of label values per metric. Further sets count under `other`. */
  seriesPerInstrument: 200,
  openTraces: 1000,
  spansPerTrace: 1000,
  /** How long a trace waits for spans that outlive its root, by the entries' time. */
  lateSpansMs: 10 * 60_000,
  /** Entries that a daemon reads at its start to restore open traces. */
  replayedEntries: 50_000,
} as const;
