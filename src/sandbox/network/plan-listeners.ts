import type { NetworkSpec } from '../../protocol/sandbox.ts';
import { loopbackPorts } from './proxy/host-rules.ts';

/** The ports at 127.0.0.1 inside a session that the supervisor serves. */
export interface Listeners {
  /** The port of BATON_URL. */
  readonly hook: number | null;
  readonly proxy: number | null;
  /** One port for each injection, in order. */
  readonly inject: readonly number[];
  readonly local: readonly number[];
}

/** Above the range of ephemeral ports, and above the usual ports of development servers. */
const FIRST_PORT = 64_001;

export function planListeners(
  { policy, hosts, local: named, port, inject }: NetworkSpec,
  {
    hasHook,
    hasProxy,
    forbidden,
  }: { readonly hasHook: boolean; readonly hasProxy: boolean; readonly forbidden: readonly number[] },
): Listeners {
  const local = new Set([...named, ...(policy === 'proxy' ? loopbackPorts(hosts) : [])]);
  const taken = new Set([...local, port]);
  let last = FIRST_PORT - 1;
  const next = (): number => {
    do last++;
    while (taken.has(last));
    return last;
  };
  // The numbers are always the same, so that users can write them into settings.
  const [hook, proxy] = [next(), next()];
  return {
    hook: hasHook ? hook : null,
    proxy: hasProxy ? proxy : null,
    inject: inject.map(next),
    local: [...local].filter((each) => !forbidden.includes(each) && each !== port),
  };
}

export function portsOf({ hook, proxy, inject, local }: Listeners): readonly number[] {
  return [hook, proxy, ...inject, ...local].filter((port) => port !== null);
}
