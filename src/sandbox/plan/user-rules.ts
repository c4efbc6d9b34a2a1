import type { SandboxPlan } from '../../protocol/sandbox.ts';
import { problem, type Problem } from '../../protocol/shape/problem.ts';
import { homeInside } from './home-rules.ts';
import type { Machine } from './machine.ts';
import { isInside, joinPath, normalizePath } from './paths.ts';
import { cover, realPathOf, showPath } from './place.ts';
import type { Rule } from './rules.ts';
import type { SessionPaths } from './session-paths.ts';

export interface UserRules {
  readonly rules: readonly Rule[];
  readonly notes: readonly string[];
  readonly problem: Problem | undefined;
}

/** The rules of a runbook's `sandbox.read`, `sandbox.write` and `sandbox.hide`. */
export function userRules(machine: Machine, paths: SessionPaths, plan: SandboxPlan): UserRules {
  const rules: Rule[] = [];
  const notes: string[] = [];
  for (const field of ['read', 'write', 'hide'] as const) {
    for (const given of plan[field] ?? []) {
      const places = placesOf(machine, paths, field, given).filter((path) => machine.find(path) !== undefined);
      if (places.length === 0) notes.push(`sandbox.${field}: ${given} does not exist.`);
      for (const path of places) {
        const found = field === 'hide' ? undefined : findRefusal(machine, paths, field, path);
        if (found !== undefined) return { rules: [], notes, problem: refuse(field, given, found) };
        rules.push(...rulesOf(machine, path, field));
      }
    }
  }
  return { rules, notes, problem: undefined };
}

/**
 * Resolves a path, which is absolute, below HOME, or relative to the project. A hidden path of the project is hidden in
 * the worktree too.
 */
function placesOf(machine: Machine, paths: SessionPaths, field: string, given: string): string[] {
  if (given === '~' || given.startsWith('~/')) return [joinPath(machine.home, given.slice(1))];
  if (given.startsWith('/')) return [normalizePath(given)];
  const folders = field === 'hide' ? [paths.repository, paths.worktree] : [paths.repository];
  return folders.map((folder) => joinPath(folder, given));
}

function rulesOf(machine: Machine, path: string, field: 'read' | 'write' | 'hide'): Rule[] {
  if (field !== 'hide') return showPath(machine, path, field, field);
  const fact = machine.find(path);
  return fact === undefined ? [] : [{ rank: 'hide', mount: cover(fact) }];
}

/** Why a path cannot be allowed. Its parent folders can: inside them the path stays hidden or read-only. */
function findRefusal(machine: Machine, paths: SessionPaths, field: 'read' | 'write', path: string): string | undefined {
  const real = realPathOf(machine, path);
  const isIn = (folders: readonly string[]): boolean =>
    folders.some((folder) => isInside(real, realPathOf(machine, folder)));
  if (real === '/' || real === realPathOf(machine, homeInside(machine)))
    return 'HOME and / are private to each session; name the folders in them that it needs';
  if (isIn([paths.stateDir, ...(paths.secrets ?? [])]))
    return 'no session may see the state folder of Baton or your own configuration';
  const { commonDir } = paths;
  if (commonDir !== null && real === realPathOf(machine, commonDir))
    return 'a session has a git directory of its own in place of the one of the repository';
  if (field === 'read') return undefined;
  if (commonDir !== null && isIn([commonDir])) return 'no session may write the git directory of the repository';
  return isIn(paths.programs) ? 'no session may write the programs that Baton runs' : undefined;
}

function refuse(field: string, given: string, reason: string): Problem {
  return problem(
    'sandbox/path-not-allowed',
    `sandbox.${field}: ${given} cannot be allowed: ${reason}`,
    `Remove the path from sandbox.${field}, or name a folder outside of it.`,
  );
}
