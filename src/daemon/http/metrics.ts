import type { IncomingMessage, ServerResponse } from 'node:http';
import { findBearerToken, isLoopbackHost } from '../../api/http/request.ts';
import { sendAnswer } from '../../api/http/respond.ts';
import { PROMETHEUS_TYPE } from '../../telemetry/render-prometheus.ts';
import type { Log } from '../log.ts';
import { SHARED_WORKER } from '../tokens.ts';
import { type AccessChecks, checkAccess, isOwnOrigin } from './access.ts';
import type { Listener } from './page-caller.ts';
import { BAD_HOST, BAD_ORIGIN, type Refusal, refusal } from './refusals.ts';

export interface MetricsOptions extends Pick<AccessChecks, 'tokens' | 'guard'> {
  readonly metrics: () => string;
  readonly log: Log;
}

export function isMetricsRequest({ url }: Pick<IncomingMessage, 'url'>): boolean {
  return url === '/metrics' || url?.startsWith('/metrics?') === true;
}

/** Requires the token for metrics, or the operator's. */
export async function handleMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  listener: Listener,
  options: MetricsOptions,
): Promise<void> {
  const refused = findRefusal(request, listener, options);
  if (refused !== undefined) {
    options.log.info('refused', { code: refused.error.code, path: '/metrics' });
    return sendAnswer(response, refused, { closes: true });
  }
  if (request.method !== 'GET') return sendAnswer(response, ONLY_GET, { closes: true });
  const text = options.metrics();
  const headers = { 'content-type': PROMETHEUS_TYPE, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  response.writeHead(200, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
}

function findRefusal(
  request: IncomingMessage,
  listener: Listener,
  { tokens, guard }: MetricsOptions,
): Refusal | undefined {
  const { headers, socket } = request;
  const { port } = listener;
  if (!tokens.isForMetrics(findBearerToken(headers) ?? '')) {
    const access = checkAccess(request, listener, { tokens, guard });
    if (!access.ok) return access;
    return access.identity.caller.kind === 'operator' ? undefined : NOT_FOR_YOU;
  }
  if (port !== undefined && !isLoopbackHost(headers)) return BAD_HOST;
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, port)) return BAD_ORIGIN;
  // The metrics name every project, so a session that found the token must not read them.
  const error = guard.findRefusal({ caller: { kind: 'worker', name: SHARED_WORKER } }, socket, headers);
  return error === undefined ? undefined : { ok: false, error };
}

const NOT_FOR_YOU = refusal(
  'forbidden',
  'metrics need the token of the operator or the token for metrics',
  'Send the token in metrics.token. See: baton docs telemetry',
);
const ONLY_GET = refusal('bad-method', '/metrics requires GET');
