import type { FilterName } from './filters/filters.ts';
import { HOME_TABLE } from './home-table.ts';
import type { Machine } from './machine.ts';
import { folderOf, isInside, joinPath, nameOf } from './paths.ts';
import { cover, linksTo, realPathOf, showPath } from './place.ts';
import type { Rule } from './rules.ts';

/** A file of HOME that the session gets a copy of. */
export interface FilteredCopy {
  readonly from: string;
  /** A folder that only Baton can replace, and the copy's path below it. */
  readonly folder: string;
  readonly path: string;
  readonly filter: FilterName;
}

/** The session's HOME inside, which is at another path if HOME is `/`. */
export function homeInside(machine: Machine): string {
  return machine.home === '/' ? '/home/session' : machine.home;
}

/** The rules of HOME: the session's own folder, with the rows of the table in it. */
export function homeRules(machine: Machine, privateHome: string): Rule[] {
  const { home } = machine;
  const inside = homeInside(machine);
  const own: Rule = { rank: 'session', mount: { kind: 'write', at: realPathOf(machine, inside), from: privateHome } };
  const rows = HOME_TABLE.flatMap(({ treatment, filter, paths }) =>
    paths.flatMap((path) => {
      if (treatment === 'read') return readable(machine, path);
      const fact = machine.find(joinPath(home, path));
      // These rules apply only if the table or a runbook makes a parent folder visible.
      if (fact === undefined || home === '/') return [];
      const copy = { kind: 'write', at: fact.real, from: joinPath(privateHome, path) } as const;
      return [{ rank: 'table', mount: filter !== undefined && fact.kind === 'file' ? copy : cover(fact) } as const];
    }),
  );
  return [...linksTo(machine, inside, 'session'), own, ...rows];
}

function readable(machine: Machine, path: string): Rule[] {
  const outside = joinPath(machine.home, path);
  if (machine.home !== '/') return showPath(machine, outside, 'read', 'table');
  const fact = machine.find(outside);
  if (fact === undefined) return [];
  return [{ rank: 'table', mount: { kind: 'read', at: joinPath(homeInside(machine), path), from: fact.real } }];
}

export function filteredCopies(machine: Machine, privateHome: string): FilteredCopy[] {
  return HOME_TABLE.flatMap(({ filter, paths }) =>
    filter === undefined
      ? []
      : paths.flatMap((path) => {
          const fact = machine.find(joinPath(machine.home, path));
          return fact?.kind === 'file' ? [{ from: fact.real, folder: privateHome, path, filter }] : [];
        }),
  );
}

/**
 * Shows programs and tools of the environment that would be hidden. A folder that contains HOME, the repository or
 * Baton's state is never shown for them.
 */
export function pathRules(machine: Machine, closed: readonly string[]): Rule[] {
  return [...machine.path, ...machine.tools].flatMap((path) => {
    const fact = machine.find(path);
    if (fact === undefined || fact.kind === 'other' || !path.startsWith('/')) return [];
    const isClosed = [machine.home, ...closed].some(
      (other) =>
        isInside(realPathOf(machine, other), fact.real) || (other !== machine.home && isInside(fact.real, other)),
    );
    const isOfHome = isInside(fact.real, realPathOf(machine, machine.home));
    return isClosed ? [] : showPath(machine, path, 'read', isOfHome ? 'table' : 'system');
  });
}

/**
 * The paths that a session needs to run programs: each program, by path or as a name on PATH, with its package folder;
 * and folders, such as Baton's own. A folder that contains HOME, the repository or Baton's state is omitted.
 */
export function findPrograms(machine: Machine, programs: readonly string[], closed: readonly string[]): string[] {
  const isOpen = (folder: string): boolean =>
    ![machine.home, ...closed].some((path) => isInside(realPathOf(machine, path), folder));
  return programs.flatMap((program) => {
    const places = program.includes('/') ? [program] : machine.path.map((folder) => joinPath(folder, program));
    const path = places.find((place) => machine.find(place) !== undefined);
    const fact = path === undefined ? undefined : machine.find(path);
    if (path === undefined || fact === undefined) return [];
    if (fact.kind === 'folder') return isOpen(fact.real) ? [path] : [];
    const [, modules] = /^(.*?\/node_modules)\//.exec(fact.real) ?? [];
    const prefix = folderOf(folderOf(fact.real));
    const isPrefix =
      nameOf(folderOf(fact.real)) === 'bin' &&
      ['lib/node_modules', 'include/node'].some((part) => machine.find(joinPath(prefix, part)) !== undefined);
    const around = [...(modules === undefined ? [] : [modules]), ...(isPrefix ? [prefix] : [])];
    return [path, ...around.filter(isOpen)];
  });
}
