import type { AgentPlan } from '../../protocol/run-plan.ts';
import { NETWORK_POLICIES, SANDBOX_MODES } from '../../protocol/sandbox.ts';
import {
  commandNetworkOf,
  covers,
  findFollowedNetwork,
  networkOf,
  type NetworkSettings,
  SANDBOX_STRENGTHS,
  sandboxOf,
  type SandboxSettings,
} from '../access.ts';
import type { Runbook } from '../runbook.ts';
import { type GateValue, plain } from './gate-value.ts';

type Field = readonly [string, GateValue];

/** The access of the project's sessions and commands, with every default filled in. */
export function projectAccess(runbook: Runbook): Field[] {
  return [
    ...accessFields(sandboxOf(runbook), commandNetworkOf(runbook, 'step')),
    ['network.install', plain(commandNetworkOf(runbook, 'install').policy)],
    ['network.checks', plain(commandNetworkOf(runbook, 'checks').policy)],
    ...[...runbook.secrets].map(([name, secret]): Field => [`secrets.${name}`, plain(secret)]),
  ];
}

/** The fields in which an agent's access differs from the project's. `findInherited` finds the others. */
export function agentAccess(section: string, agent: AgentPlan, runbook: Runbook): Field[] {
  const project = new Map(projectAccess(runbook));
  return accessFields(sandboxOf(runbook, agent), networkOf(runbook, agent)).flatMap(([name, value]): Field[] => {
    // Otherwise `network.policy` would apply to a role that follows `network.install` or `network.checks`.
    const isListed = name === 'network.policy' && findFollowedNetwork(agent.run) !== undefined;
    const isOwn = JSON.stringify(project.get(name) ?? null) !== JSON.stringify(value);
    return isOwn || isListed ? [[`${section}.${name}`, value]] : [];
  });
}

function accessFields(sandbox: SandboxSettings, network: NetworkSettings): Field[] {
  const { image = null, ...rest } = sandbox;
  return [
    ...Object.entries({ ...rest, image }).map(([name, value]): Field => [`sandbox.${name}`, plain(value)]),
    ...Object.entries(network).map(([name, value]): Field => [`network.${name}`, plain(value)]),
  ];
}

/** The project's field that applies if an agent or a check does not set its own. */
export function findInherited(field: string): string | undefined {
  const ofAgent = /^agents\..+\.((?:sandbox|network)\.[a-z_]+)$/.exec(field)?.[1];
  return ofAgent ?? (/^ci\.required\..+\.network$/.test(field) ? 'network.checks' : undefined);
}

/** Reports whether sessions can access less than before; undefined for a field that is not about access. */
export function isLessAccess(field: string, before: GateValue, after: GateValue): boolean | undefined {
  const name = findInherited(field) ?? field;
  if (name.startsWith('secrets.')) return false;
  return COMPARISONS[name]?.(before, after);
}

const COMPARISONS: Readonly<Record<string, (before: GateValue, after: GateValue) => boolean>> = {
  'sandbox.mode': isStrongerMode,
  'sandbox.read': isFewer,
  'sandbox.write': isFewer,
  'sandbox.hide': (before, after) => isFewer(after, before),
  'sandbox.nested': (before, after) => before === true && after === false,
  'sandbox.image': () => false,
  'sandbox.processes': isLess,
  'sandbox.memory_bytes': isLess,
  'sandbox.disk_bytes': isLess,
  'network.policy': isNarrower,
  'network.install': isNarrower,
  'network.checks': isNarrower,
  'network.hosts': isFewer,
  'network.local': isFewer,
};

function isStrongerMode(before: GateValue, after: GateValue): boolean {
  const [wasLeast, wasMost] = strengthOf(before);
  const [least, most] = strengthOf(after);
  return least >= wasMost && (least > wasLeast || most > wasMost);
}

function strengthOf(value: GateValue): readonly [number, number] {
  const mode = SANDBOX_MODES.find((each) => each === value);
  return SANDBOX_STRENGTHS[mode ?? 'none'];
}

/** Lists of hosts are compared by what they cover. The hosts of `dev` and `model` depend on client and machine. */
function isNarrower(before: GateValue, after: GateValue): boolean {
  if (after === 'none' || before === 'full') return true;
  const [was, is] = [before, after].map((value) => NETWORK_POLICIES.findIndex((each) => each === value));
  if (was !== undefined && is !== undefined && was >= 0 && is >= 0) return is >= was;
  return (
    Array.isArray(before) &&
    Array.isArray(after) &&
    after.every((host) =>
      before.some((each) => typeof each === 'string' && typeof host === 'string' && covers(each, host)),
    )
  );
}

function isFewer(before: GateValue, after: GateValue): boolean {
  return Array.isArray(before) && Array.isArray(after) && after.every((each) => before.includes(each));
}

function isLess(before: GateValue, after: GateValue): boolean {
  return typeof before === 'number' && typeof after === 'number' && after < before;
}
