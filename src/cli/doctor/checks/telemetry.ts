import { defineCheck, type Diagnosis, ok, problem } from '../finding.ts';

export interface TelemetryFacts {
  /** `BATON_TELEMETRY`; undefined if it is not set. */
  readonly module: string | undefined;
  readonly isReadable: boolean;
  /** The newest line about it in the daemon's log. */
  readonly logged: { readonly isError: boolean; readonly text: string } | null;
}

export const telemetryCheck = defineCheck('telemetry', 'The module of `BATON_TELEMETRY`', {
  off: ok('Nothing is exported'),
  configured: ok('The module exists; the daemon loads it when it starts'),
  'missing-module': problem('The module does not exist, or cannot be read'),
  failed: problem('The daemon could not load the module, or the module registers no tracer'),
});

export function diagnoseTelemetry({ module, isReadable, logged }: TelemetryFacts): readonly Diagnosis[] {
  if (module === undefined) return [telemetryCheck.found('off', { detail: 'not configured' })];
  if (!isReadable) {
    const fix = 'Correct BATON_TELEMETRY, or unset it; then: baton down && baton up';
    return [telemetryCheck.found('missing-module', { detail: `${module} cannot be read`, fix })];
  }
  if (logged?.isError === true) {
    const fix = 'Correct the module (baton docs telemetry), then: baton down && baton up';
    return [telemetryCheck.found('failed', { detail: `${module}: ${logged.text}`, fix })];
  }
  return [telemetryCheck.found('configured', { detail: module })];
}
