/**
 * The variables that make programs use Baton's proxy. Most read the first six; the others are for programs that ignore
 * those, or whose own setting, such as one in `~/.npmrc`, would take precedence.
 */
export function proxyVariables(url: string): Readonly<Record<string, string>> {
  return Object.fromEntries([
    ...PROXY.map((name) => [name, url]),
    ...NO_PROXY.map((name) => [name, LOOPBACK]),
    ...OTHER,
  ]);
}

const PROXY = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  // curl, wget and git ignore the upper-case HTTP_PROXY.
  'http_proxy',
  'https_proxy',
  // For other schemes; also overrides a proxy of the user's shell, which the session cannot reach.
  'ALL_PROXY',
  'all_proxy',
  'npm_config_proxy',
  'npm_config_https_proxy',
  // Yarn 2 and later reads no other variable.
  'YARN_HTTP_PROXY',
  'YARN_HTTPS_PROXY',
  'PIP_PROXY',
  'CARGO_HTTP_PROXY',
] as const;

const NO_PROXY = ['NO_PROXY', 'no_proxy', 'npm_config_noproxy'] as const;

/** The supervisor, forwarded ports and the session's own servers. */
const LOOPBACK = '127.0.0.1,localhost,::1';

/**
 * Makes Node's own `fetch` and `http` use the proxy; the stop hook disables it, because it doubles Node's start time.
 */
const OTHER = [['NODE_USE_ENV_PROXY', '1']] as const;
