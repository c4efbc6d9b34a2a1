import type { Measurement } from '../../telemetry/instruments.ts';
import type { FinishedTrace } from '../../telemetry/spans.ts';

/** Sends measurements and traces out of the daemon. */
export interface TelemetryReporter {
  readonly measure: (measurement: Measurement) => void;
  readonly trace: (trace: FinishedTrace) => void;
  /** Sends what is still buffered. */
  readonly close: () => Promise<void>;
}
