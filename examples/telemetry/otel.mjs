// Baton imports this module if BATON_TELEMETRY is its path. OTEL_EXPORTER_OTLP_ENDPOINT names the collector.
import { metrics, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';

const resource = resourceFromAttributes({ 'service.name': 'baton' });
const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter())];
const readers = [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })];
const tracers = new BasicTracerProvider({ resource, spanProcessors });
const meters = new MeterProvider({ resource, readers });
trace.setGlobalTracerProvider(tracers);
metrics.setGlobalMeterProvider(meters);

// The daemon calls this when it stops, and waits up to 3 seconds.
export async function shutdown() {
  await Promise.all([tracers.shutdown(), meters.shutdown()]);
}
