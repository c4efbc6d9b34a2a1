import type { HiddenPath } from '../../protocol/sandbox.ts';
import { HOME_TABLE } from './home-table.ts';
import type { Machine } from './machine.ts';
import { isBelow, joinPath } from './paths.ts';
import { realPathOf } from './place.ts';
import { isVisible, type Rule } from './rules.ts';
import type { SessionPaths } from './session-paths.ts';

/** Paths that exist outside but not inside, and that a tool may request. */
export function findHidden(machine: Machine, paths: SessionPaths, rules: readonly Rule[]): HiddenPath[] {
  const { home } = machine;
  // A folder that is partly visible does not explain what a tool misses.
  const isAbsent = (path: string): boolean => {
    const real = machine.find(path)?.real;
    if (real === undefined || isVisible(real, rules)) return false;
    return real === paths.repository || !rules.some(({ mount }) => isBelow(mount.at, real));
  };
  const rows = HOME_TABLE.filter(({ treatment }) => treatment === 'hidden').flatMap(({ paths: below }) => below);
  const names = HOME_FOLDERS.flatMap((folder) =>
    machine.list(joinPath(home, folder)).map((name) => (folder === '' ? name : `${folder}/${name}`)),
  );
  const treated = new Set(HOME_TABLE.filter(({ treatment }) => treatment !== 'hidden').flatMap((row) => row.paths));
  const inHome = [...new Set([...rows, ...names])]
    .filter((below) => !treated.has(below) && !CONTAINERS.has(below) && isAbsent(joinPath(home, below)))
    .slice(0, MOST_PATHS)
    .map((below) => ({ path: joinPath(home, below), shown: `~/${below}` }));
  const others = [...OTHERS, ...machine.sockets.filter((path) => /docker|podman|containerd/.test(path))]
    .filter(isAbsent)
    .map((path) => ({ path, shown: path }));
  const project = isAbsent(paths.repository) ? [{ path: paths.repository, shown: '.' }] : [];
  const state = realPathOf(machine, paths.stateDir);
  return [...inHome, ...others, ...project].filter(({ path }) => realPathOf(machine, path) !== state);
}

const HOME_FOLDERS = ['', '.config', '.local/share'];
/** Folders that exist inside, with other content. */
const CONTAINERS: ReadonlySet<string> = new Set(['.config', '.local', '.local/share', '.cache', '.cargo', '.npm']);
const OTHERS = ['/mnt', '/media', '/run/docker.sock', '/var/run/docker.sock', '/run/podman/podman.sock'];
const MOST_PATHS = 400;
