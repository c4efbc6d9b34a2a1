import { pathToFileURL } from 'node:url';
import { isObject } from '../../protocol/shape/read-unknown.ts';
import { causeOf, type Log } from '../log.ts';
import type { TelemetryReporter } from './reporter.ts';

/**
 * Imports the module that registers an OpenTelemetry SDK. It is imported here and not by `--import`, because the daemon
 * gets most of its environment through a pipe, after Node has loaded those modules. A failure is logged, and work
 * continues without it.
 */
export async function loadReporter(path: string | undefined, log: Log): Promise<TelemetryReporter | undefined> {
  if (path === undefined) return undefined;
  try {
    const loaded: unknown = await import(pathToFileURL(path).href);
    const { createOtelReporter } = await import('./otel-reporter.ts');
    const shutdown: unknown = isObject(loaded) ? loaded['shutdown'] : undefined;
    const close = async (): Promise<void> => {
      if (typeof shutdown === 'function') await shutdown();
    };
    const reporter = createOtelReporter(close);
    if (!reporter.isRegistered) log.error('the telemetry module has registered no tracer', { path });
    else log.info('telemetry is exported', { path });
    return reporter;
  } catch (error) {
    log.error('telemetry is not exported: its module failed', { path, cause: causeOf(error) });
    return undefined;
  }
}
