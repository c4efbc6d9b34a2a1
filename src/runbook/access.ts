import type { NetworkPlan, NetworkPolicy, SandboxPlan } from '../protocol/sandbox.ts';
import type { AgentPlan } from '../protocol/run-plan.ts';
import type { Runbook } from './runbook.ts';
import type { CheckNetwork } from './shape/access-shape.ts';

/** Everything is set but the image, which has no default. */
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

/** The sandbox of an agent; without one, that of the project's commands. An agent's field replaces the project's, and its lists add to them. */
export function sandboxOf(
  { sandbox: project }: Pick<Runbook, 'sandbox'>,
  { sandbox: own = {} }: Pick<AgentPlan, 'sandbox'> = {},
): SandboxSettings {
  const both = (list: 'read' | 'write' | 'hide'): readonly string[] => [
    ...new Set([...(project[list] ?? []), ...(own[list] ?? [])]),
  ];
  return { ...DEFAULT_SANDBOX, ...project, ...own, read: both('read'), write: both('write'), hide: both('hide') };
}

/** The built-in roles that run commands of the project have the network of those. */
export function findFollowedNetwork(run: string): 'install' | 'checks' | undefined {
  return run === 'builtin:prep' ? 'install' : run === 'builtin:validator' ? 'checks' : undefined;
}

export function networkOf(
  runbook: Pick<Runbook, 'network'>,
  { run, network: own = {} }: Pick<AgentPlan, 'run' | 'network'>,
): NetworkSettings {
  const followed = findFollowedNetwork(run);
  const { policy: inherited } = followed === undefined ? projectNetwork(runbook) : commandNetworkOf(runbook, followed);
  return { policy: own.policy ?? inherited, local: own.local ?? runbook.network.local ?? [] };
}

/** A step of a pipeline has the network of the project; it is no check. */
export type CommandKind = 'install' | 'checks' | 'step';

/** The network of a command; `own` is the policy of a check that sets one. */
export function commandNetworkOf(
  runbook: Pick<Runbook, 'network'>,
  kind: CommandKind,
  own?: CheckNetwork,
): NetworkSettings {
  if (kind === 'step') return projectNetwork(runbook);
  const { local = [] } = runbook.network;
  return { policy: own ?? runbook.network[kind] ?? DEFAULT_POLICIES[kind], local };
}

const DEFAULT_POLICIES = { install: 'full', checks: 'none' } as const;

function projectNetwork({ network: { policy = 'full', local = [] } }: Pick<Runbook, 'network'>): NetworkSettings {
  return { policy, local };
}

/** The variables that no agent, check or command gets: a secret that is injected must not reach them in another way. */
export function secretVariables({ secrets }: Pick<Runbook, 'secrets'>): readonly string[] {
  return [...new Set([...secrets].flatMap(([name, { env }]) => [name, env]))].sort();
}

/** In the words of the runbook: `full`, `model`, `none`, or the hosts. */
export function renderPolicy(policy: NetworkPolicy): string {
  return typeof policy === 'string' ? policy : policy.length === 0 ? 'none' : policy.join(', ');
}
