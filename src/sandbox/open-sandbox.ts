import { mkdirSync } from 'node:fs';
import { removeTree } from '../api/remove-tree.ts';
import type { HostCount, SandboxRecord, SandboxSpec } from '../protocol/sandbox.ts';
import { openContainer } from './container/open-container.ts';
import { openBubblewrap } from './bubblewrap/open-bubblewrap.ts';
import { isRoot } from './user/agent-user.ts';
import { openAsUser } from './user/open-as-user.ts';
import { openLayers } from './layers/open-layers.ts';
import { type DiskWatch, watchDisk } from './limits/disk-watch.ts';
import type { OpenMode, SandboxedCommand, SandboxRequest } from './mode.ts';
import type { OpenNetwork } from './network/network-request.ts';
import { openSandboxExec } from './macos/open-sandbox-exec.ts';
import { explainNoNamespace } from './network/namespace/create-namespace.ts';
import { openNetwork } from './network/open-network.ts';
import { openShell } from './shell/open-shell.ts';
import { withSystemFolders } from './system-program.ts';

export interface OpenSandbox extends Pick<OpenMode, 'started' | 'end' | 'freeze'> {
  /** The address of `onRequest` inside; null if the process is on the host's network. */
  readonly url: string | null;
  readonly record: SandboxRecord;
  /** The command to spawn, with only the standard descriptors. */
  command(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv, isTerminal?: boolean): SandboxedCommand;
  /**
   * Calls `onOver` once, with a line for the log, if the process has exceeded its disk limit and must end. `leader` is
   * undefined in a terminal.
   */
  watchDisk(leader: number | undefined, onOver: (line: string) => void): void;
  /** Called after the process has ended: removes everything of the sandbox. */
  close(): Promise<readonly HostCount[]>;
}

export type SandboxResult =
  | { readonly ok: true; readonly sandbox: OpenSandbox }
  | { readonly ok: false; readonly reason: string };

/** Opens the network and limits for one process, which the caller starts with `command`. */
export async function openSandbox(request: SandboxRequest): Promise<SandboxResult> {
  const { spec, folder } = request;
  for (const path of [folder, ...spec.temporary]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const env = withSystemFolders(request.env);
  const hostOnly = explainHostOnly({ ...request, env });
  // A container does not start if its settings cannot be enforced.
  if (
    hostOnly !== undefined &&
    spec.kind === 'container' &&
    spec.network.policy !== 'full' &&
    spec.network.isDefault !== true
  )
    return { ok: false, reason: `${hostOnly}: only network = "full" works with it` };
  const opened = await openNetwork({ ...request, env, spec: spec.network, owner: ownerOf(spec), hostOnly });
  if (!opened.ok) return opened;
  const { network } = opened;
  const layers = await openLayers(spec.layers, env);
  const mode = openMode(request, { ...network, enter: [...network.enter, ...layers.enter] });
  const shell = spec.shell === undefined ? undefined : await openShell({ ...request, env }, spec.shell, mode);
  let disk: DiskWatch | undefined;
  const sandbox: OpenSandbox = {
    url: network.url,
    record: {
      kind: spec.kind,
      network: network.summary,
      limits: mode.limits,
      notes: [...spec.notes, ...network.notes, ...layers.notes, ...mode.notes],
    },
    command: (argv, cwd, env, isTerminal = false) => {
      const whole = { ...env, ...spec.env, ...network.env };
      return mode.wrap({ argv: argv.map((word) => fillInjected(word, spec, whole)), cwd, env: whole, isTerminal });
    },
    started: (pid) => mode.started(pid),
    freeze: async (isFrozen) => (await mode.freeze?.(isFrozen)) === true,
    end: async () => mode.end?.(),
    watchDisk: (leader, onOver) => {
      disk = watchDisk(spec, leader, onOver);
    },
    close: async () => {
      disk?.close();
      await mode.end?.();
      const aside = await shell?.close();
      await mode.close();
      await network.close();
      layers.close();
      for (const path of spec.temporary) removeTree(path);
      return addCounts([...network.counts(), ...(aside ?? [])]);
    },
  };
  return { ok: true, sandbox };
}

function addCounts(counts: readonly HostCount[]): readonly HostCount[] {
  const hosts = Map.groupBy(counts, ({ host }) => host);
  const sum = (all: readonly HostCount[], name: 'allowed' | 'refused'): number =>
    all.reduce((total, each) => total + each[name], 0);
  return [...hosts].map(([host, all]) => ({ host, allowed: sum(all, 'allowed'), refused: sum(all, 'refused') }));
}

/** Why the process cannot enter a network namespace that Baton creates; undefined if it can. */
function explainHostOnly({ spec, env, onRequest }: SandboxRequest): string | undefined {
  if (spec.kind === 'user')
    return isRoot() ? explainNoNamespace(env) : 'only root can give another user a network of its own';
  if (spec.container?.engine.name !== 'docker') return undefined;
  const { policy, local, port } = spec.network;
  const needsNone = policy === 'none' && onRequest === undefined && local.length === 0 && port === null;
  return needsNone ? undefined : 'docker cannot join a network of Baton';
}

/** The owner of the network: a rootless podman can join only what its own user namespace owns. */
function ownerOf({ container }: SandboxSpec): readonly string[] {
  const isRootlessPodman = container?.engine.name === 'podman' && container.engine.isRootless;
  return isRootlessPodman ? ['podman', 'unshare'] : [];
}

/** Some clients accept the address of an injected secret only as a flag. */
function fillInjected(word: string, { network }: SandboxSpec, env: NodeJS.ProcessEnv): string {
  const names = network.inject.flatMap((each) => Object.keys(each.env));
  return names.reduce((text, name) => text.replaceAll(`\${${name}}`, env[name] ?? ''), word);
}

function openMode(request: SandboxRequest, network: OpenNetwork): OpenMode {
  switch (request.spec.kind) {
    case 'bubblewrap':
      return openBubblewrap(request, network);
    case 'container':
      return openContainer(request, network);
    case 'sandbox-exec':
      return openSandboxExec(request, network);
    case 'user':
      return openAsUser(request, network);
  }
}
