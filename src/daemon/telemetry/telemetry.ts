import { VERSION } from '../../api/version.ts';
import { renderPrometheus } from '../../telemetry/render-prometheus.ts';
import { Totals } from '../../telemetry/totals.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { causeOf, type Log, ThrottledLog } from '../log.ts';
import { ProjectTelemetry } from './project-telemetry.ts';
import type { TelemetryReporter } from './reporter.ts';

/** The metrics of all projects of a daemon, counted since its start. */
export class Telemetry {
  readonly #totals = new Totals();
  readonly #log: ThrottledLog;
  readonly #reporter: TelemetryReporter | undefined;

  constructor(log: Log, reporter?: TelemetryReporter) {
    this.#log = new ThrottledLog(log);
    this.#reporter = reporter;
  }

  follow(project: string): ProjectTelemetry {
    const reporter = this.#reporter;
    return new ProjectTelemetry(project, {
      measure: (measurement) => {
        this.#totals.add(measurement);
        reporter?.measure(measurement);
      },
      trace: reporter?.trace,
      onError: (error) => this.#log.error('telemetry failed', { project, cause: causeOf(error) }),
    });
  }

  renderMetrics(): string {
    return renderPrometheus(this.#totals, { version: VERSION });
  }

  /** A collector that does not answer must not keep the daemon from stopping. */
  async close(): Promise<void> {
    if (this.#reporter === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('not sent in time')), SERVER_LIMITS.telemetryFlushMs);
    });
    try {
      await Promise.race([this.#reporter.close(), late]);
    } catch (error) {
      this.#log.error('the last telemetry was not sent', { cause: causeOf(error) });
    } finally {
      clearTimeout(timer);
    }
  }
}
