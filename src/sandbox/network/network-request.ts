import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Environment } from '../../protocol/environment.ts';
import type { HostCount, NetworkSpec } from '../../protocol/sandbox.ts';
import type { RequestMeter } from './meter/request-meter.ts';

export interface NetworkRequest {
  readonly spec: NetworkSpec;
  /** Serves requests from inside at BATON_URL. Commands have no supervisor to call. */
  readonly onRequest?: (request: IncomingMessage, response: ServerResponse) => void;
  /** The values that injections add, by name. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Counts the requests that use a secret, and stops them; absent for processes for which none is injected. */
  readonly meter?: RequestMeter;
  /** The path of the helper program. */
  readonly helper: string;
  /** Ports of this machine that no setting opens: those of the daemon and the web page. */
  readonly forbiddenPorts: readonly number[];
  /** Receives lines for the session's log while it runs. */
  readonly onNote: (line: string) => void;
  /** The supervisor's environment: PATH and the machine's proxy settings. */
  readonly env: Environment;
  /** Runs a program in the user namespace that must own the network: `podman unshare` for rootless containers. */
  readonly owner?: readonly string[];
  /** Several processes share the network, even if it has no ports. */
  readonly isShared?: true;
  /** Why the process cannot enter a separate namespace; absent if it can. */
  readonly hostOnly?: string | undefined;
}

export interface OpenNetwork {
  /** BATON_URL inside; null on the host's network, on which the supervisor's own address works. */
  readonly url: string | null;
  /** The words to prepend to the argv of the session's program; empty if it needs none. */
  readonly enter: readonly string[];
  /** Whether the program's sandbox must create an empty network namespace itself, because nothing is served inside. */
  readonly unsharesNet: boolean;
  /** Paths of the namespaces, for programs that enter them by themselves; null if there are none. */
  readonly namespaces: { readonly user: string; readonly net: string } | null;
  /** Variables of the session, for proxies and the addresses of injected secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly summary: 'full' | 'host' | 'none' | 'proxy' | 'dev' | 'model';
  /** What the session's network lacks, in plain sentences. */
  readonly notes: readonly string[];
  /** The text to mount at /etc/resolv.conf; null if the host's file works inside. */
  readonly resolvConf: string | null;
  counts(): readonly HostCount[];
  close(): Promise<void>;
}

export type NetworkResult =
  | { readonly ok: true; readonly network: OpenNetwork }
  /** The policy cannot be enforced on this machine, for this reason. */
  | { readonly ok: false; readonly reason: string };
