import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Headers of one connection, which a proxy must not pass on. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
] as const;

/** The headers to pass on, without those of the connection and those that `Connection` names. */
export function forwardedHeaders(headers: IncomingHttpHeaders, dropped: readonly string[] = []): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/[\s,]+/);
  const without = new Set<string>([...HOP_BY_HOP, ...dropped, ...named]);
  // A body of unknown length stays one: without this, Node would send a GET or DELETE without its body.
  const isChunked = headers['transfer-encoding'] !== undefined && headers['content-length'] === undefined;
  const kept = Object.entries(headers).filter(([name]) => !without.has(name));
  return { ...Object.fromEntries(kept), ...(isChunked && { 'transfer-encoding': 'chunked' }) };
}
