import type { NetworkPlan, NetworkPolicy, SandboxKind, SandboxMode, SandboxPlan } from '../protocol/sandbox.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { Runbook } from './runbook.ts';
import type { CheckNetwork } from './shape/access-shape.ts';

/** The settings of a sandbox with all defaults filled in, except the image, which has none. */
export type SandboxSettings = Required<Omit<SandboxPlan, 'image'>> & Pick<SandboxPlan, 'image'>;
export type NetworkSettings = Required<NetworkPlan>;

const GIB = 1024 ** 3;

export const DEFAULT_SANDBOX = {
  mode: 'auto',
  read: [],
  write: [],
  hide: [],
  nested: false,
  processes: 1024,
  memory_bytes: 8 * GIB,
  disk_bytes: 20 * GIB,
} as const satisfies SandboxSettings;

/**
 * The sandbox of an agent, or of the project's commands if no agent is given. An agent's fields replace the project's,
 * and its lists extend them.
 */
export function sandboxOf(
  { sandbox: project }: Pick<Runbook, 'sandbox'>,
  { sandbox: own = {} }: Pick<AgentPlan, 'sandbox'> = {},
): SandboxSettings {
  return { ...DEFAULT_SANDBOX, ...joinSandboxes(project, own) };
}

/** The inner fields replace the outer ones, and the inner lists extend them. */
function joinSandboxes(outer: SandboxPlan, inner: SandboxPlan) {
  const both = (list: 'read' | 'write' | 'hide'): readonly string[] => [
    ...new Set([...(outer[list] ?? []), ...(inner[list] ?? [])]),
  ];
  return { ...outer, ...inner, read: both('read'), write: both('write'), hide: both('hide') };
}

/** Built-in roles that run the project's commands use the commands' network. */
export function findFollowedNetwork(run: string): 'install' | 'checks' | undefined {
  return run === 'builtin:prep' ? 'install' : run === 'builtin:validator' ? 'checks' : undefined;
}

export function networkOf(
  runbook: Pick<Runbook, 'network'>,
  { run, network: own = {} }: Pick<AgentPlan, 'run' | 'network'>,
): NetworkSettings {
  const followed = findFollowedNetwork(run);
  const { policy: inherited } = followed === undefined ? projectNetwork(runbook) : commandNetworkOf(runbook, followed);
  const { hosts = [], local = [] } = runbook.network;
  return { policy: own.policy ?? inherited, hosts: own.hosts ?? hosts, local: own.local ?? local };
}

/** The kind of a command. A step of a pipeline has the project's network, because it is not a check. */
export type CommandKind = 'install' | 'checks' | 'step';

/** The network of a command; `own` is the policy of a check that sets one. */
export function commandNetworkOf(
  runbook: Pick<Runbook, 'network'>,
  kind: CommandKind,
  own?: CheckNetwork,
): NetworkSettings {
  if (kind === 'step') return projectNetwork(runbook);
  const { local = [], hosts = [], fallback = DEFAULT_POLICY } = runbook.network;
  return { policy: own ?? runbook.network[kind] ?? (kind === 'install' ? fallback : 'none'), hosts, local };
}

const DEFAULT_POLICY = 'dev';

function projectNetwork({ network }: Pick<Runbook, 'network'>): NetworkSettings {
  const { fallback = DEFAULT_POLICY, policy = fallback, hosts = [], local = [] } = network;
  return { policy, hosts, local };
}

/** Reports whether nobody has chosen the policy: neither the runbook nor the person's own configuration. */
export function isDefaultNetwork({ network }: Pick<Runbook, 'network'>, own: CommandKind | NetworkPlan = {}): boolean {
  if (own === 'install' || own === 'checks') return network[own] === undefined;
  return network.policy === undefined && (own === 'step' || own.policy === undefined);
}

/** The variables that no agent, check or command gets: an injected secret must not reach them in another way. */
export function secretVariables({ secrets }: Pick<Runbook, 'secrets'>): readonly string[] {
  return [...new Set([...secrets].flatMap(([name, { env }]) => [name, env]))].sort();
}

/** Renders a policy as a runbook writes it: `full`, `dev`, `model`, `none`, or the hosts. */
export function renderPolicy(policy: NetworkPolicy): string {
  return typeof policy === 'string' ? policy : policy.length === 0 ? 'none' : policy.join(', ');
}

/** Reports whether one host of a policy includes another: `*.example.com` includes `api.example.com`. */
export function covers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.startsWith('*.') && narrow.endsWith(wide.slice(1)));
}

/** A runbook with the person's own defaults in place of the built-in ones. */
export function withDefaults<R extends Pick<Runbook, 'sandbox' | 'network'>>(
  runbook: R,
  { sandbox, network }: Pick<Runbook, 'sandbox' | 'network'>,
): R {
  return {
    ...runbook,
    sandbox: joinSandboxes(sandbox, runbook.sandbox),
    network: { ...network, ...runbook.network },
  };
}

/** The least and the greatest strength of a mode: `auto` may find no mode that works. */
export const SANDBOX_STRENGTHS: Readonly<Record<SandboxMode, readonly [number, number]>> = {
  none: [0, 0],
  user: [1, 1],
  'sandbox-exec': [1, 1],
  container: [2, 2],
  bubblewrap: [2, 2],
  auto: [0, 2],
};

/** Reports whether a mode is never weaker than a kind. */
export function atLeast(mode: SandboxMode, kind: SandboxKind): boolean {
  return SANDBOX_STRENGTHS[mode][0] >= SANDBOX_STRENGTHS[kind][0];
}
