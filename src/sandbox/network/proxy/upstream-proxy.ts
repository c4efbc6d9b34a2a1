import type { AgentOptions } from 'node:http';
import type { Environment } from '../../../protocol/environment.ts';
import type { Target } from './host-rules.ts';

/** The proxy that all requests of this machine must use, such as a company's. */
export interface UpstreamProxy extends Target {
  readonly url: string;
  readonly isSecure: boolean;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/**
 * Finds the proxy in HTTPS_PROXY, HTTP_PROXY and NO_PROXY, lower case first, as curl does. Other kinds, such as SOCKS,
 * are ignored.
 */
export function findUpstreamProxy(env: Environment, target: Target, isTls: boolean): UpstreamProxy | undefined {
  const text = isTls ? (env['https_proxy'] ?? env['HTTPS_PROXY']) : (env['http_proxy'] ?? env['HTTP_PROXY']);
  if (text === undefined || text === '' || isExempt(env['no_proxy'] ?? env['NO_PROXY'] ?? '', target)) return undefined;
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return undefined;
  const isSecure = url.protocol === 'https:';
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: Number(url.port || (isSecure ? 443 : 80)),
    url: url.href,
    isSecure,
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/** An option of Node's agents. NO_PROXY is omitted: it was already applied, and Node might parse it differently. */
export function agentProxy(upstream: UpstreamProxy | undefined): AgentOptions {
  return upstream === undefined ? {} : { proxyEnv: { http_proxy: upstream.url, https_proxy: upstream.url } };
}

/** The proxies of an environment, to determine whether a session could reach them. */
export function upstreamProxies(env: Environment): readonly UpstreamProxy[] {
  const any = { host: 'host.invalid', port: 443 };
  return [findUpstreamProxy(env, any, true), findUpstreamProxy(env, any, false)].filter((each) => each !== undefined);
}

/**
 * Reports whether NO_PROXY covers a target. `example.com` and `.example.com` cover the name and all names below it; `*`
 * covers everything.
 */
function isExempt(list: string, { host, port }: Target): boolean {
  return list.split(/[\s,]+/).some((each) => {
    const entry = each.toLowerCase().replace(/^\*?\./, '');
    if (entry === '*') return true;
    if (entry === '') return false;
    return [host, `${host}:${port}`].some((name) => name === entry || name.endsWith(`.${entry}`));
  });
}
