/**
 * The host of a remote's address, as an entry of a list of hosts; undefined for a path. A port is kept only if HTTP uses
 * it: sessions reach a host over HTTP, also if the remote uses SSH.
 */
export function parseRemoteHost(url: string): string | undefined {
  if (url.startsWith('/') || url.startsWith('.')) return undefined;
  const parsed = /^[a-z+]+:\/\//i.test(url) ? URL.parse(url) : undefined;
  if (parsed === null) return undefined;
  if (parsed === undefined)
    return HOST.exec(/^(?:[^@/\s]+@)?([^:/\s]+):(?![:-]|\/\/)/.exec(url)?.[1] ?? '')?.[0].toLowerCase();
  const isHttp = parsed.protocol === 'https:' || parsed.protocol === 'http:';
  if (!isHttp) return HOST.exec(parsed.hostname)?.[0].toLowerCase();
  return parsed.host === '' ? undefined : parsed.host.toLowerCase();
}

const HOST = /^[A-Za-z0-9][A-Za-z0-9.-]*$/;
