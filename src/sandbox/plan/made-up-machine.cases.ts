import type { Machine, PathFact } from './machine.ts';
import { folderOf, isInside, joinPath, normalizePath, pathBelow } from './paths.ts';
import type { SessionPaths } from './session-paths.ts';

/**
 * A machine described by paths: `/a/b/` is a folder, `/a/b` a file, `/a/b -> /c` a link, `=` precedes a socket, `!`
 * what other users cannot read. Parent folders exist too.
 */
export function madeUpMachine(entries: readonly string[], rest: Partial<Machine> = {}): Machine {
  const [kinds, links, secret] = [new Map<string, PathFact['kind']>(), new Map<string, string>(), new Set<string>()];
  for (const entry of entries) {
    const [, marks = '', given = '', target] = /^([!=]*)(.*?)(?: -> (.*))?$/.exec(entry) ?? [];
    const path = normalizePath(given);
    for (let folder = folderOf(path); folder !== '/'; folder = folderOf(folder)) kinds.set(folder, 'folder');
    if (target === undefined) kinds.set(path, marks.includes('=') ? 'other' : given.endsWith('/') ? 'folder' : 'file');
    else links.set(path, target);
    if (marks.includes('!')) secret.add(path);
  }
  kinds.set('/', 'folder');
  const resolve = (path: string, depth = 0): string | undefined => {
    if (depth > 20) return undefined;
    for (const [link, target] of links) {
      if (!isInside(path, link)) continue;
      const to = target.startsWith('/') ? target : joinPath(folderOf(link), target);
      return resolve(joinPath(to, pathBelow(path, link)), depth + 1);
    }
    return kinds.has(path) ? path : undefined;
  };
  return {
    uid: 1000,
    home: '/home/ada',
    path: [],
    tools: [],
    sockets: [],
    privatePaths: [],
    find: (path) => {
      const real = resolve(path);
      if (real === undefined) return undefined;
      return { kind: kinds.get(real) ?? 'file', real, isPrivate: secret.has(real) };
    },
    list: (folder) =>
      [...kinds.keys(), ...links.keys()]
        .filter((path) => path !== '/' && folderOf(path) === folder)
        .map((path) => path.slice(path.lastIndexOf('/') + 1)),
    ...rest,
  };
}

export const DEBIAN: readonly string[] = [
  '/bin -> usr/bin',
  '/usr/bin/',
  '/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf',
  '/run/systemd/resolve/stub-resolv.conf',
  '=/run/docker.sock',
  '/var/run -> /run',
  '/var/tmp/',
  '/var/lib/',
  '/sys/',
  '/proc/',
  '/dev/',
  '/tmp/',
  '/mnt/c/',
  '/opt/',
  '/home/ada/.ssh/id_ed25519',
  '/home/bob/',
];

/** A project below HOME with one worktree, and the state folder at its default path. */
export const PATHS: SessionPaths = {
  home: '/home/ada/.local/state/baton/agents/1/home',
  tmp: '/home/ada/.local/state/baton/agents/1/tmp',
  worktree: '/home/ada/app/.worktrees/W-1',
  sessionFolder: '.baton/session',
  stateDir: '/home/ada/.local/state/baton',
  repository: '/home/ada/app',
  worktrees: '/home/ada/app/.worktrees',
  commonDir: '/home/ada/app/.git',
  files: [],
  linked: [],
  programs: [],
  cache: null,
  mounts: [],
};

export const PROJECT: readonly string[] = [
  '/home/ada/app/README.md',
  '/home/ada/app/.git/config',
  '/home/ada/app/.git/lfs/',
  '/home/ada/app/.worktrees/W-1/.baton/session/',
  '/home/ada/app/.worktrees/W-2/',
  '/home/ada/.local/state/baton/key.pem',
  '/home/ada/.local/state/baton/agents/1/home/',
  '/home/ada/.local/state/baton/agents/1/tmp/',
  '/home/ada/.local/state/baton/caches/app/',
];
