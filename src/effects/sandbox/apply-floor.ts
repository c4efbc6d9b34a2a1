import type { NetworkPlan, SandboxKind, SandboxMode } from '../../protocol/sandbox.ts';
import { atLeast, covers } from '../../runbook/access.ts';
import type { PersonalSettings } from '../context.ts';

type FloorOf = Pick<PersonalSettings, 'floor' | 'path'>;

/** The mode to request: that of the project, or the strongest one if the project asks for less than the floor. */
export function raiseMode(mode: SandboxMode, personal: FloorOf): SandboxMode {
  return mode === 'auto' || findBelowFloor(mode, personal) === undefined ? mode : 'auto';
}

/** Why the sandbox that works here may not be used; undefined if it is as strong as the floor. */
export function findBelowFloor(kind: SandboxKind, { floor, path }: FloorOf): string | undefined {
  const had = kind === 'none' ? 'no sandbox works here' : `the strongest sandbox that works here is ${kind}`;
  const wanted = (what: string): string =>
    `${had}, and your own configuration demands ${what} in ${path}). See: baton doctor`;
  if (!atLeast(kind, floor.sandbox)) return wanted(`at least ${floor.sandbox} (floor.sandbox`);
  const isOpen = floor.network.policy !== 'full' && HOST_NETWORKS.has(kind);
  return isOpen ? wanted('a sandbox with a network of its own (floor.network') : undefined;
}

/** Sandboxes that use the network of the machine, which no policy narrows. */
const HOST_NETWORKS: ReadonlySet<SandboxKind> = new Set(['none', 'user']);

export function describeRaised(asked: SandboxMode, kind: SandboxKind, { path }: FloorOf): string {
  return `The project asks for sandbox = "${asked}". Your floor in ${path} makes it ${kind}.`;
}

/** A policy with its hosts: `model` is resolved to the hosts of the client. */
export interface Reach {
  readonly kind: 'full' | 'proxy' | 'none';
  readonly hosts: readonly string[];
}

/** What both allow. */
export function narrowReach(asked: Reach, floor: Reach): Reach {
  if (floor.kind === 'full' || asked.kind === 'none') return asked;
  if (floor.kind === 'none' || asked.kind === 'full') return floor;
  const within = (narrow: readonly string[], wide: readonly string[]): readonly string[] =>
    narrow.filter((host) => wide.some((each) => covers(each, host)));
  return {
    kind: 'proxy',
    hosts: [...new Set([...within(asked.hosts, floor.hosts), ...within(floor.hosts, asked.hosts)])],
  };
}

/** The ports of this machine that both allow. A floor that narrows the network allows those that it lists. */
export function narrowPorts(asked: readonly number[], floor: NetworkPlan): readonly number[] {
  const { policy = 'full', local } = floor;
  if (local === undefined && policy === 'full') return asked;
  return asked.filter((port) => local?.includes(port) === true);
}
