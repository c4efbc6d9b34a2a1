import { posix } from 'node:path';
import type { Mount } from '../../protocol/sandbox.ts';
import type { DevcontainerMount } from './devcontainer.ts';
import { type DevcontainerVariables, fillVariables } from './fill-variables.ts';

export interface MountRules {
  readonly variables: DevcontainerVariables;
  /** Distinguishes the project's volumes from those of other projects and of the user. */
  readonly project: string;
  /** `sandbox.read` and `sandbox.write`, as absolute paths. */
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export interface ResolvedMounts {
  readonly mounts: readonly Mount[];
  /** For `ContainerSpec.args`. */
  readonly args: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Selects the mounts of a devcontainer. A repository cannot open the user's files: a folder of this machine is mounted
 * only if `sandbox.read` or `sandbox.write` lists it. Folders in the worktree are refused too, because an agent could
 * have made a link there.
 */
export function devcontainerMounts(mounts: readonly DevcontainerMount[], rules: MountRules): ResolvedMounts {
  const resolved = mounts.map((mount) => resolveMount(mount, rules));
  return {
    mounts: resolved.flatMap(({ mount }) => mount ?? []),
    args: resolved.flatMap(({ args }) => args ?? []),
    notes: resolved.flatMap(({ note }) => note ?? []),
  };
}

interface Resolved {
  readonly mount?: Mount;
  readonly args?: readonly string[];
  readonly note?: string;
}

function resolveMount({ type, source, target, isReadOnly }: DevcontainerMount, rules: MountRules): Resolved {
  if (type === 'tmpfs') return { mount: { kind: 'scratch', at: target } };
  const missing: string[] = [];
  const filled = fillVariables(source, rules.variables, missing);
  if (missing.length > 0)
    return { note: `devcontainer: ${target} is not mounted, because ${missing.join(', ')} is not known` };
  if (type === 'volume') return volume(filled, target, isReadOnly, rules.project);
  const from = posix.normalize(filled);
  const isListed = (paths: readonly string[]): boolean =>
    paths.some((path) => from === path || from.startsWith(`${path}/`));
  if (isListed(rules.write)) return { mount: { kind: isReadOnly ? 'read' : 'write', at: target, from } };
  if (isListed(rules.read)) return { mount: { kind: 'read', at: target, from } };
  const key = isReadOnly ? 'read' : 'write';
  return { note: `devcontainer: ${from} is not mounted. To allow it: sandbox.${key} = [${JSON.stringify(from)}]` };
}

function volume(name: string, target: string, isReadOnly: boolean, project: string): Resolved {
  if (!/^[A-Za-z0-9][\w.-]*$/.test(name))
    return { note: `devcontainer: ${target} is not mounted: a volume has no such name` };
  const words = [
    'type=volume',
    `source=baton-${project}-${name}`,
    `target=${target}`,
    ...(isReadOnly ? ['readonly'] : []),
  ];
  if (/[",\n]/.test(target)) return { note: `devcontainer: ${target} is not mounted: its path has a comma or a quote` };
  return { args: ['--mount', words.join(',')] };
}
