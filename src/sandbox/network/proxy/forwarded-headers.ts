import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** Headers that apply to one connection, which a proxy must not pass on. */
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

/** The headers to pass on, without connection headers and those that `Connection` names. */
export function forwardedHeaders(headers: IncomingHttpHeaders, dropped: readonly string[] = []): OutgoingHttpHeaders {
  const named = (headers.connection ?? '').toLowerCase().split(/[\s,]+/);
  const without = new Set<string>([...HOP_BY_HOP, ...dropped, ...named]);
  // Keeps a body of unknown length chunked: without this, Node would send a GET or DELETE without its body.
  const isChunked = headers['transfer-encoding'] !== undefined && headers['content-length'] === undefined;
  const kept = Object.entries(headers).filter(([name]) => !without.has(name));
  return { ...Object.fromEntries(kept), ...(isChunked && { 'transfer-encoding': 'chunked' }) };
}
