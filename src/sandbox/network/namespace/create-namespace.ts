import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Server } from 'node:net';
import type { Environment } from '../../../protocol/environment.ts';
import { fieldOf } from '../../../protocol/shape/read-unknown.ts';
import { collectText, findTool, firstLine, hasProgram, startTool } from './tools.ts';

export interface NamespaceOptions {
  readonly env: Environment;
  /** Ports that are opened at 127.0.0.1 inside. */
  readonly ports: readonly number[];
  /** The program that opens the ports. */
  readonly helper: string;
  /**
   * Runs a program in an existing user namespace, which will own the network (`podman unshare`); otherwise one is
   * created.
   */
  readonly owner: readonly string[];
}

/**
 * A network namespace with a loopback device. It lives as long as this process holds its descriptors, or a process is
 * in it.
 */
export interface Namespace {
  readonly user: number;
  readonly net: number;
  /** The words to prepend to the argv of a program that runs in the namespace. */
  readonly enter: readonly string[];
  /** The namespaces' paths, for programs that enter them by themselves. */
  readonly paths: { readonly user: string; readonly net: string };
  /** The listening server by port, or the error code of a port that could not be opened. */
  readonly servers: Promise<ReadonlyMap<number, Server | string>>;
  close(): void;
}

export type NamespaceResult =
  | { readonly ok: true; readonly namespace: Namespace }
  | { readonly ok: false; readonly reason: string };

/** Creates a namespace. Resolves as soon as it can be entered; its ports follow, because starting Node takes longer. */
export async function createNamespace(options: NamespaceOptions): Promise<NamespaceResult> {
  const lack = explainNoNamespace(options.env);
  if (lack !== undefined) return { ok: false, reason: lack };
  const holder = startHolder(options);
  const servers = receiveServers(holder, options.ports);
  const announced = await waitForHolder(holder);
  if (!announced.ok) return announced;
  const holderPaths = { user: `/proc/${announced.pid}/ns/user`, net: `/proc/${announced.pid}/ns/net` };
  const [user, net] = openBoth(holderPaths, holder);
  const ownPaths = { user: descriptorPath(user), net: descriptorPath(net) };
  const isForeign = options.owner.length > 0;
  // The descriptors keep the namespace alive, so the process is only needed until its ports have arrived.
  void servers.then(() => (isForeign ? endHelper(holder) : endHolder(holder)));
  const close = (): void => {
    endHolder(holder);
    closeSync(user);
    closeSync(net);
  };
  // The process that enters has the PATH of its session, which may lack the folder.
  const nsenter = findTool('nsenter', options.env) ?? 'nsenter';
  const enter = [nsenter, `--user=${ownPaths.user}`, `--net=${ownPaths.net}`, '--preserve-credentials', '--'];
  // A process in another user namespace cannot access this process's descriptors.
  const paths = isForeign ? holderPaths : ownPaths;
  return { ok: true, namespace: { user, net, enter, paths, servers, close } };
}

/** Returns which program is missing; undefined if none is. */
export function explainNoNamespace(env: Environment): string | undefined {
  const missing = ['bwrap', 'nsenter'].find((name) => !hasProgram(name, env));
  return missing === undefined ? undefined : `${missing} is not installed`;
}

/** Opens both namespaces. Fails only if descriptors run out. */
function openBoth({ user, net }: Namespace['paths'], holder: ChildProcess): readonly [number, number] {
  try {
    return [openSync(user, 'r'), openSync(net, 'r')];
  } catch (error) {
    endHolder(holder);
    throw error;
  }
}

/** The path of a descriptor, which works for every process of this user, even one that a user's terminal starts. */
export function descriptorPath(descriptor: number): string {
  return `/proc/${process.pid}/fd/${descriptor}`;
}

const INFO_FD = 3;

/** Prints a line when the namespace is complete, opens the ports, and waits for the end of its input. */
const HOLD = 'echo; "$@"; read -r _';

function startHolder({ env, ports, helper, owner }: NamespaceOptions): ChildProcess {
  const argv = [
    ...owner,
    'bwrap',
    ...(owner.length === 0 ? ['--unshare-user'] : []),
    ...`--unshare-net --dev-bind / / --die-with-parent --info-fd ${INFO_FD}`.split(' '),
    // Allows ports below 1024.
    ...'--cap-add CAP_NET_BIND_SERVICE --'.split(' '),
    'sh',
    '-c',
    HOLD,
    'sh',
    ...(ports.length === 0 ? [] : [...helperCommand(helper), 'listen', ...ports.map(String)]),
  ];
  return startTool(argv, env, ['pipe', 'pipe', 'pipe', 'pipe', ports.length === 0 ? 'ignore' : 'ipc']);
}

/** Without threads for the compiler Node starts a third faster. */
export function helperCommand(helper: string): readonly string[] {
  const flags = helper.endsWith('.ts') ? ['--disable-warning=ExperimentalWarning'] : ['--v8-pool-size=0'];
  return [process.execPath, ...flags, helper];
}

type Announced = { readonly ok: true; readonly pid: number } | { readonly ok: false; readonly reason: string };

async function waitForHolder(holder: ChildProcess): Promise<Announced> {
  return new Promise((resolve) => {
    const onText = (): void => {
      const [, pid] = /"child-pid": *(\d+)/.exec(info.text) ?? [];
      if (announcement.text !== '' && pid !== undefined) resolve({ ok: true, pid: Number(pid) });
    };
    const announcement = collectText(holder.stdout, onText);
    const info = collectText(holder.stdio[INFO_FD], onText);
    const errors = collectText(holder.stderr);
    holder.once('error', ({ message }) => resolve({ ok: false, reason: message }));
    holder.once('close', () => resolve({ ok: false, reason: firstLine(errors.text) }));
  });
}

function endHolder(holder: ChildProcess): void {
  endHelper(holder);
  holder.stdin?.destroy();
}

function endHelper(holder: ChildProcess): void {
  if (holder.connected) holder.disconnect();
}

async function receiveServers(
  holder: ChildProcess,
  ports: readonly number[],
): Promise<ReadonlyMap<number, Server | string>> {
  const received = new Map<number, Server | string>();
  if (ports.length === 0) return received;
  return new Promise((resolve) => {
    holder.on('message', (message, handle) => {
      const [port, error] = [fieldOf(message, 'port'), fieldOf(message, 'error')];
      if (typeof port !== 'number') return;
      received.set(port, handle instanceof Server ? handle : String(error));
      if (received.size === ports.length) resolve(received);
    });
    holder.once('exit', () => {
      for (const port of ports) if (!received.has(port)) received.set(port, 'the helper ended');
      resolve(received);
    });
    holder.once('error', () => resolve(received));
  });
}
