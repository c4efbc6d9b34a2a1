import { isIP } from 'node:net';

/** The target of a request: a lower-case name, or an address without brackets. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Entries of a policy: `example.com`, `*.example.com`, with or without `:PORT`; `all` allows every host. */
export type HostRules = 'all' | readonly string[];

/**
 * Parses `HOST:PORT` or `[ADDRESS]:PORT`. Returns undefined for any other form, such as a user name, another scheme or
 * port 0, because a proxy can be tricked if two programs parse an odd address differently.
 */
export function parseAuthority(text: string, defaultPort?: number): Target | undefined {
  const [, address, name, digits] =
    /^(?:\[([0-9a-fA-F:.]{2,45})\]|([^:@/?#\s[\]]{1,254}))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = (address ?? name ?? '').toLowerCase().replace(/\.$/, '');
  const port = digits === undefined ? (defaultPort ?? 0) : Number(digits);
  if (port < 1 || port > 65_535) return undefined;
  if (address !== undefined) return isIP(host) === 6 ? { host, port } : undefined;
  return isIP(host) === 4 || isHostName(host) ? { host, port } : undefined;
}

/**
 * Reports whether the rules allow a target. Without a port, an entry covers HTTPS and HTTP at their usual ports. An
 * address is allowed only if an entry names it.
 */
export function isListed(rules: HostRules, { host, port }: Target): boolean {
  if (rules === 'all') return true;
  return rules.some((entry) => {
    const rule = parseRule(entry);
    if (rule === undefined) return false;
    if (rule.port === undefined ? port !== 443 && port !== 80 : port !== rule.port) return false;
    return rule.isSuffix ? isIP(host) === 0 && host.endsWith(`.${rule.host}`) : host === rule.host;
  });
}

/**
 * Reports whether the list names exactly this target of `127.0.0.1:PORT` or `localhost:PORT`, which opens one port of
 * this machine. A name that resolves to this machine never opens one.
 */
export function isListedLoopback(rules: HostRules, { host, port }: Target): boolean {
  if (rules === 'all' || !LOOPBACK.has(host)) return false;
  return rules.some((entry) => {
    const rule = parseRule(entry);
    return rule !== undefined && !rule.isSuffix && rule.host === host && rule.port === port;
  });
}

/** The ports of this machine that a list opens. Clients do not use a proxy for these ports, so they are forwarded. */
export function loopbackPorts(rules: readonly string[]): readonly number[] {
  return rules.flatMap((entry) => {
    const { host, port, isSuffix } = parseRule(entry) ?? {};
    return port !== undefined && host !== undefined && isSuffix === false && LOOPBACK.has(host) ? [port] : [];
  });
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** Renders a target as in a runbook: with the port if it is not the usual one. */
export function renderTarget({ host, port }: Target): string {
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  return port === 443 || port === 80 ? shown : `${shown}:${port}`;
}

interface Rule extends Partial<Target> {
  readonly host: string;
  readonly isSuffix: boolean;
}

function parseRule(entry: string): Rule | undefined {
  const isSuffix = entry.startsWith('*.');
  const rest = isSuffix ? entry.slice(2) : entry;
  const hasPort = /(?:^[^:]+|\]):\d+$/.test(rest);
  const target = parseAuthority(isIP(rest) === 6 ? `[${rest}]` : rest, 443);
  if (target === undefined) return undefined;
  return hasPort ? { ...target, isSuffix } : { host: target.host, isSuffix };
}

function isHostName(host: string): boolean {
  return (
    host.length <= 253 &&
    /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(host)
  );
}
