import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Environment } from '../../protocol/environment.ts';
import type { HostCount, NetworkSpec } from '../../protocol/sandbox.ts';

export interface NetworkRequest {
  readonly spec: NetworkSpec;
  /** Serves requests from inside at BATON_URL. Commands have no supervisor to talk to. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  /** By name: the values that injections add. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The path of the helper program. */
  readonly helper: string;
  /** Ports of this machine that no setting opens: the daemon's and the page's. */
  readonly forbiddenPorts: readonly number[];
  /** Receives lines for the session's log while it runs. */
  readonly onNote: (line: string) => void;
  /** The supervisor's environment: PATH and the proxy of the machine's owner. */
  readonly env: Environment;
  /** Runs a program in the user namespace that must own the network: `podman unshare` for rootless containers. */
  readonly owner?: readonly string[];
  /** Why the process cannot enter a namespace of its own; left out if it can. */
  readonly hostOnly?: string | undefined;
}

export interface OpenNetwork {
  /** BATON_URL inside; null on the host's network, where the supervisor's own address works. */
  readonly url: string | null;
  /** The words before the argv of the session's program; empty if it needs none. */
  readonly enter: readonly string[];
  /** The program's sandbox must make an empty network namespace itself: nothing is served inside. */
  readonly unsharesNet: boolean;
  /** Paths of the namespaces, for programs that enter them by themselves. */
  readonly namespaces: { readonly user: string; readonly net: string } | null;
  /** Variables of the session: proxies, and the addresses of injected secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly summary: 'full' | 'host' | 'none' | 'proxy';
  /** What the session lacks, in plain sentences. */
  readonly notes: readonly string[];
  /** The text that must be mounted at /etc/resolv.conf; null if the host's file works inside. */
  readonly resolvConf: string | null;
  counts(): readonly HostCount[];
  close(): Promise<void>;
}

export type NetworkResult =
  | { readonly ok: true; readonly network: OpenNetwork }
  /** The policy cannot be enforced on this machine. */
  | { readonly ok: false; readonly reason: string };
