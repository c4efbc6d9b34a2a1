import type { HiddenPath, Mount, SandboxPlan } from '../../protocol/sandbox.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { findHidden } from './hidden.ts';
import { filteredCopies, type FilteredCopy, homeInside, homeRules, pathRules } from './home-rules.ts';
import type { Machine } from './machine.ts';
import { isInside, joinPath, pathBelow } from './paths.ts';
import { arrangeRules, divideRules, findAround, isVisible, type Rule } from './rules.ts';
import type { SessionPaths } from './session-paths.ts';
import { findReplacedFolder, runtimeFolder, sessionRules } from './session-rules.ts';
import { systemRules } from './system-rules.ts';
import { userRules } from './user-rules.ts';

export interface MountPlan {
  readonly system: readonly Mount[];
  readonly mounts: readonly Mount[];
  readonly hidden: readonly HiddenPath[];
  /** Files to write before the start. */
  readonly copies: readonly FilteredCopy[];
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

export type MountResult =
  | { readonly ok: true; readonly value: MountPlan }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Plans what one session can access on this machine. Sandboxes without mounts, such as another user, need no mount
 * points.
 */
export function planMounts(
  machine: Machine,
  paths: SessionPaths,
  plan: SandboxPlan,
  { needsMountPoints = true }: { readonly needsMountPoints?: boolean } = {},
): MountResult {
  const replaced = findReplacedFolder(machine, paths);
  if (replaced !== undefined) return { ok: false, problem: replaced };
  const user = userRules(machine, paths, plan);
  if (user.problem !== undefined) return { ok: false, problem: user.problem };
  const closed = [paths.stateDir, paths.repository, paths.worktrees];
  const all = [
    ...systemRules(machine),
    ...homeRules(machine, paths.home),
    ...pathRules(machine, closed),
    ...user.rules,
    ...sessionRules(machine, paths),
  ];
  const arranged = arrangeRules(all);
  const guards = guardRules(machine, paths, arranged);
  const rules = arrangeRules([...all, ...coverSockets(machine, arranged), ...guards]);
  const lost = needsMountPoints ? findLostMount(machine, rules) : undefined;
  if (lost !== undefined) return { ok: false, problem: lost };
  const hides = user.rules.filter(({ rank }) => rank === 'hide');
  const isCopied = ({ from }: FilteredCopy): boolean => !hides.some(({ mount }) => isInside(from, mount.at));
  return {
    ok: true,
    value: {
      ...divideRules(rules),
      hidden: [...findHidden(machine, paths, rules), ...guards.map(({ mount: { at } }) => readOnly(at, paths))],
      copies: filteredCopies(machine, paths.home).filter(isCopied),
      env: {
        HOME: homeInside(machine),
        TMPDIR: '/tmp',
        TMP: '/tmp',
        TEMP: '/tmp',
        XDG_RUNTIME_DIR: runtimeFolder(machine),
      },
      notes: user.notes,
    },
  };
}

/** Hides listening sockets in folders of the system. Those in folders of the session or of the runbook stay visible. */
function coverSockets(machine: Machine, rules: readonly Rule[]): Rule[] {
  return machine.sockets.flatMap((path): Rule[] => {
    const real = machine.find(path)?.real;
    if (real === undefined) return [];
    const around = findAround(real, rules);
    const rule = rules.find(({ mount }) => mount === around);
    return rule?.rank === 'system' || rule?.rank === 'table'
      ? [{ rank: 'system', mount: { kind: 'masked', at: real } }]
      : [];
  });
}

/**
 * Makes the rules in force read-only wherever the session could write them. Absent files are not created: the adoption
 * decides about those.
 */
function guardRules(machine: Machine, { inForce = [] }: SessionPaths, rules: readonly Rule[]): Rule[] {
  return inForce.flatMap((path): Rule[] => {
    const real = machine.find(path)?.real;
    if (real === undefined || findAround(real, rules)?.kind !== 'write' || !isVisible(real, rules)) return [];
    return [{ rank: 'session', mount: { kind: 'read', at: real, from: real }, isPinned: true }];
  });
}

function readOnly(path: string, { repository }: SessionPaths): HiddenPath {
  return { isReadOnly: true, path, shown: isInside(path, repository) ? pathBelow(path, repository) : path };
}

/** Finds a mount whose mount point cannot be created, because it is below a read-only folder. */
function findLostMount(machine: Machine, rules: readonly Rule[]): Problem | undefined {
  for (const [i, { mount }] of rules.entries()) {
    const around = findAround(mount.at, rules.slice(0, i));
    if (around?.kind !== 'read') continue;
    if (machine.find(joinPath(around.from, pathBelow(mount.at, around.at))) !== undefined) continue;
    return problem(
      'sandbox/no-mount-point',
      `${mount.at} does not exist, and cannot be made inside of ${around.at}, which is read-only in the sandbox`,
      `Create it: mkdir -p ${mount.at}`,
    );
  }
  return undefined;
}
