interface UpstreamPath {
  /** The whole path with the query. */
  readonly path: string;
  /** The path below the base URL, without the query. */
  readonly below: string;
}

/**
 * The path at the upstream, with dots resolved; undefined if they would leave its base path. Parameters are removed
 * with which a client would send a key of its own, or Google's APIs would leave the usage out of their answers, or write
 * them in a format that Baton does not read.
 */
export function upstreamPath(upstream: URL, rest: string, header: string): UpstreamPath | undefined {
  const base = upstream.pathname.replace(/\/$/, '');
  const url = URL.parse(`${upstream.origin}${base}${rest}`);
  if (url === null || url.origin !== upstream.origin) return undefined;
  if (url.pathname !== base && !url.pathname.startsWith(`${base}/`)) return undefined;
  const dropped = header.toLowerCase() === 'x-goog-api-key' ? ['key', ...USAGE_FILTERS] : USAGE_FILTERS;
  for (const name of dropped) if (url.searchParams.has(name)) url.searchParams.delete(name);
  for (const name of FORMATS) {
    if (url.searchParams.getAll(name).some((format) => format !== 'json' && format !== 'sse'))
      url.searchParams.delete(name);
  }
  return { path: `${url.pathname}${url.search}`, below: url.pathname.slice(base.length) || '/' };
}

const USAGE_FILTERS = ['fields', '$fields', 'callback', '$callback'];
/** Parameters of Google's APIs for the format of the answer. Baton reads no other format than JSON and events. */
const FORMATS = ['alt', '$alt'];
