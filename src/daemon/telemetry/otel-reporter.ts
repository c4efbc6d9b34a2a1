import { isSpanContextValid, metrics, ROOT_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { VERSION } from '../../api/version.ts';
import { INSTRUMENT_NAMES, instrumentOf, type InstrumentName, type Measurement } from '../../telemetry/instruments.ts';
import type { FinishedTrace } from '../../telemetry/spans.ts';
import type { TelemetryReporter } from './reporter.ts';

/** Reports through the OpenTelemetry API. The operator's registered SDK decides what is sent. */
export function createOtelReporter(close: () => Promise<void>): TelemetryReporter & { readonly isRegistered: boolean } {
  const tracer = trace.getTracer('baton', VERSION);
  const record = createInstruments();
  // With an SDK, a span has an id even if it is not sampled. This one never ends, so it is not exported.
  const isRegistered = isSpanContextValid(tracer.startSpan('baton').spanContext());
  return {
    isRegistered,
    close,
    measure: ({ instrument, value, labels }) => record.get(instrument)?.(value, labels),
    trace: ({ root, spans }: FinishedTrace): void => {
      const made = new Map<string, Span>();
      const endMs = root.endMs ?? root.startMs;
      for (const { key, parent, name, startMs, isError, attributes } of spans) {
        const above = made.get(parent ?? '');
        const context = above === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, above);
        // Passed as a Date, because a number could be read as the time since this process started.
        const options = { startTime: new Date(startMs), attributes, root: parent === null };
        const span = tracer.startSpan(name, options, context);
        if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
        made.set(key, span);
      }
      for (const span of spans.toReversed()) {
        const isOpen = span.endMs === null;
        if (isOpen) made.get(span.key)?.setAttribute('baton.unfinished', true);
        made.get(span.key)?.end(new Date(span.endMs ?? Math.max(endMs, span.startMs)));
      }
    },
  };
}

type RecordValue = (value: number, labels: Measurement['labels']) => void;

function createInstruments(): ReadonlyMap<InstrumentName, RecordValue> {
  const meter = metrics.getMeter('baton', VERSION);
  return new Map(
    INSTRUMENT_NAMES.map((name): [InstrumentName, RecordValue] => {
      const { kind, unit, about: description, buckets = [] } = instrumentOf(name);
      if (kind === 'counter') {
        const counter = meter.createCounter(name, { unit, description });
        return [name, (value, labels) => counter.add(value, attributesOf(labels))];
      }
      const advice = { explicitBucketBoundaries: [...buckets] };
      const histogram = meter.createHistogram(name, { unit, description, advice });
      return [name, (value, labels) => histogram.record(value, attributesOf(labels))];
    }),
  );
}

function attributesOf(labels: Measurement['labels']): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([label, value]) => [`baton.${label}`, value]));
}
