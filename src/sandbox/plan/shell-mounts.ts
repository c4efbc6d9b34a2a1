import type { Mount } from '../../protocol/sandbox.ts';
import type { Machine } from './machine.ts';
import { outsidePath } from './outside-path.ts';
import { isInside, joinPath, nameOf, pathBelow } from './paths.ts';

/** The folder in the client's sandbox with the socket and the program that replaces the shells. */
export const SHELL_INSIDE = '/run/baton/shell';
/** The name of that program, and of its file. */
export const SHELL_PROGRAM = 'run';
const REAL_INSIDE = '/run/baton/real';

/** What both sandboxes of a judging session are made of: what they share, and what only the client sees. */
export interface ShellPaths {
  /** The client's HOME, and the HOME of the commands. */
  readonly home: string;
  readonly shellHome: string;
  /** The folder of the run, with the client's settings, logins and conversations. */
  readonly runFolder: string;
  /** Folders in `runFolder` that the commands see as well: the temporary folder, and programs. */
  readonly shared: readonly string[];
  /** The folder with the socket and the program. */
  readonly folder: string;
}

export type ShellMounts =
  | {
      readonly ok: true;
      /** The mounts that the client's sandbox has besides. */
      readonly client: readonly Mount[];
      /** All mounts of the commands' sandbox besides those of the system. */
      readonly commands: readonly Mount[];
      /** Where each replaced program is visible in the client's sandbox. */
      readonly real: Readonly<Record<string, string>>;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Plans the two sandboxes of a judging session. In the client's, a program takes the place of every shell and of git;
 * in the other, which runs the commands, nothing of the client is visible.
 */
export function planShellMounts(
  machine: Machine,
  { system, mounts }: { readonly system: readonly Mount[]; readonly mounts: readonly Mount[] },
  paths: ShellPaths,
): ShellMounts {
  const found = findReplaced(machine, [...system, ...mounts]);
  const shared = [...found].find(([path, real]) => /\/(?:ba)?sh$/.test(path) && !isAlone(real))?.[1];
  if (shared !== undefined) return { ok: false, reason: `the shell is part of a program with other uses, ${shared}` };
  const replaced = [...new Set(found.values())].filter(isAlone);
  const real = Object.fromEntries(replaced.map((path, i) => [path, `${REAL_INSIDE}/${i}-${nameOf(path)}`]));
  const program = joinPath(paths.folder, SHELL_PROGRAM);
  return {
    ok: true,
    client: [
      { kind: 'read', at: SHELL_INSIDE, from: paths.folder },
      ...Object.entries(real).map(([from, at]) => ({ kind: 'read', at, from }) as const),
      ...replaced.map((at) => ({ kind: 'read', at, from: program }) as const),
    ],
    commands: mounts.flatMap((mount) => forCommands(mount, paths)),
    real,
  };
}

/** A client calls git by itself too, and git runs programs that a repository's configuration names. */
const NAMES: ReadonlySet<string> = new Set(
  'sh bash rbash dash ash zsh ksh ksh93 mksh lksh oksh pdksh loksh yash fish csh tcsh bsd-csh git'.split(' '),
);

/** A version is part of a name, such as `zsh-5.9`. */
function isAlone(path: string): boolean {
  return NAMES.has(nameOf(path).replace(/(?<=[a-z])[-.\d]+$/, '')) || NAMES.has(nameOf(path));
}

/** Finds the programs to replace, by name, where the client would see them. */
function findReplaced(machine: Machine, mounts: readonly Mount[]): ReadonlyMap<string, string> {
  const folders = new Set(['/bin', '/usr/bin', '/usr/local/bin', ...machine.path]);
  const found = new Map<string, string>();
  for (const folder of folders)
    for (const name of NAMES) {
      const fact = machine.find(joinPath(folder, name));
      if (fact?.kind === 'file' && outsidePath(fact.real, mounts) === fact.real)
        found.set(joinPath(folder, name), fact.real);
    }
  return found;
}

function forCommands(mount: Mount, { home, shellHome, runFolder, shared }: ShellPaths): readonly Mount[] {
  if (!('from' in mount) || shared.some((path) => isInside(mount.from, path))) return [mount];
  if (isInside(mount.from, home)) return [{ ...mount, from: joinPath(shellHome, pathBelow(mount.from, home)) }];
  return isInside(mount.from, runFolder) ? [] : [mount];
}
