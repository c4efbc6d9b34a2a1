import { setImmediate } from 'node:timers/promises';
import { parseEntry } from '../../ledger/format/entry.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { toRecordedEvent } from '../../state/recorded-event.ts';
import type { State } from '../../state/state.ts';
import { TELEMETRY_LIMITS } from '../../telemetry/limits.ts';
import { measureEntry, nothingUnderWay, type UnderWay } from '../../telemetry/measure-entry.ts';
import { TraceFold } from '../../telemetry/trace-fold.ts';
import { underWayIn } from '../../telemetry/under-way-in-state.ts';
import type { TelemetryReporter } from './reporter.ts';

export interface ProjectTelemetryOptions extends Pick<TelemetryReporter, 'measure'> {
  /** Undefined if no receiver is registered. Traces are then not folded. */
  readonly trace: TelemetryReporter['trace'] | undefined;
  readonly onError: (error: unknown) => void;
}

interface Arrived {
  readonly recorded: RecordedEvent;
  readonly isOwn: boolean;
}

/** Folds the entries of one project into metrics and traces. */
export class ProjectTelemetry {
  readonly #options: ProjectTelemetryOptions;
  readonly #traces: TraceFold;
  #underWay: UnderWay;
  /** Entries that arrive while older ones are read for the traces. */
  #waiting: Arrived[] | undefined;

  constructor(project: string, options: ProjectTelemetryOptions) {
    this.#options = options;
    this.#underWay = nothingUnderWay(project);
    this.#traces = new TraceFold(project);
  }

  /** Must be called with the project's initial state, before the first `add`. */
  begin(ledger: Pick<Ledger, 'store'>, state: State): void {
    this.#guard(() => {
      this.#underWay = underWayIn(this.#underWay.project, state);
    });
    if (this.#options.trace === undefined || state.seq === 0) return;
    this.#waiting = [];
    void this.#replay(ledger, state.seq)
      .catch(this.#options.onError)
      .finally(() => this.#foldWaiting());
  }

  /** Every host folds each entry, but only the host that recorded it reports measurements. */
  add(entries: readonly RecordedEvent[], isOwn: boolean): void {
    for (const recorded of entries) {
      this.#guard(() => {
        for (const measurement of measureEntry(this.#underWay, recorded)) if (isOwn) this.#options.measure(measurement);
      });
      if (this.#waiting === undefined) this.#trace({ recorded, isOwn });
      else this.#waiting.push({ recorded, isOwn });
    }
  }

  #trace({ recorded, isOwn }: Arrived): void {
    const { trace } = this.#options;
    if (trace === undefined) return;
    this.#guard(() => {
      for (const finished of this.#traces.add(recorded)) if (isOwn) trace(finished);
    });
  }

  /** Folds the newest entries again, so that traces open at the last stop are complete. Reports none of them. */
  async #replay({ store }: Pick<Ledger, 'store'>, to: number): Promise<void> {
    const from = Math.max(1, to - TELEMETRY_LIMITS.replayedEntries + 1);
    for await (const batch of store.entries({ from, to })) {
      for (const { bytes } of batch) {
        const entry = parseEntry(bytes);
        const recorded = entry.ok ? toRecordedEvent(entry.value) : undefined;
        if (recorded !== undefined) this.#traces.add(recorded);
      }
      // Background work: requests come first.
      await setImmediate();
    }
  }

  #foldWaiting(): void {
    const arrived = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const each of arrived) this.#trace(each);
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
