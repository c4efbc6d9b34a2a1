import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: { readonly dataPoints: readonly DataPoint[] };
  readonly histogram?: { readonly dataPoints: readonly DataPoint[] };
}

interface DataPoint {
  readonly asDouble?: number;
  readonly count?: number;
  readonly attributes: ReceivedSpan['attributes'];
}

/** A collector on loopback that stores what it receives as OTLP in JSON. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** The newest value of each metric. */
  readonly metrics = new Map<string, ReceivedMetric>();
  readonly bodies: string[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      void request.toArray().then((chunks: Buffer[]) => {
        this.#receive(request.url ?? '', Buffer.concat(chunks).toString('utf8'));
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const { port } = this.#server.address() as AddressInfo; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return `http://127.0.0.1:${port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #receive(url: string, body: string): void {
    this.bodies.push(body);
    const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body) as Received; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (url === '/v1/traces')
      this.spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    if (url !== '/v1/metrics') return;
    const metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    for (const metric of metrics) this.metrics.set(metric.name, metric);
  }
}

interface Received {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[] }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly ReceivedMetric[] }[];
  }[];
}
