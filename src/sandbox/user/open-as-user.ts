import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFolderIfPresent, readFileIfPresent } from '../../api/files.ts';
import { hasEnded, readProcessName } from '../../api/processes.ts';
import type { PrivateGit, SandboxSpec, UserSession } from '../../protocol/sandbox.ts';
import { openLimits } from '../limits/open-limits.ts';
import type { OpenMode, SandboxRequest } from '../mode.ts';
import type { OpenNetwork } from '../network/network-request.ts';
import { isRoot } from './agent-user.ts';
import { endGroup, endUserProcesses, stopUserProcesses } from './end-user-processes.ts';
import { closeFolders, reclaimFolders, shareFolders, showFolder } from './share-folders.ts';
import { userArgv } from './user-argv.ts';

/** Runs the session as another user of this machine: the modes of files protect keys, tokens and sockets. */
export function openAsUser({ spec, id }: SandboxRequest, { namespaces, unsharesNet }: OpenNetwork): OpenMode {
  const { user } = spec;
  if (user === null) throw new Error('the sandbox has no user');
  const limits = openLimits(spec.limits, id);
  const live = join(dirname(user.folder), LIVE, id);
  mkdirSync(dirname(live), { recursive: true, mode: 0o700 });
  writeFileSync(live, `${readProcessName(process.pid)} ${user.worktree}`);
  let mark = '';
  return {
    limits: limits.kind,
    notes: limits.procs.length === 0 ? [NO_GROUP] : [],
    wrap: ({ argv, env }) => {
      mark =
        ['BATON_AGENT_ID', 'BATON_COMMAND_ID'].flatMap((name) => (env[name] ? [`${name}=${env[name]}`] : []))[0] ?? '';
      showFolder(user.folder, user);
      shareFolders(user.shared, user, user.closed);
      const network = namespaces !== null ? ({ path: namespaces.net } as const) : unsharesNet ? 'none' : 'host';
      return { ok: true, argv: userArgv({ spec, user, argv, env, network, procs: limits.procs }), env };
    },
    started: () => {},
    freeze: async (isFrozen) => {
      const isHeld = await limits.freeze(isFrozen);
      // As root, the supervisor can signal the processes itself if the groups cannot be frozen. With sudo, a session
      // may have been moved to another group, so its processes are also signalled by their mark.
      return isRoot() ? isHeld : stopUserProcesses(user, mark, othersOf(live).length === 0, isFrozen);
    },
    end: async () => {
      await endGroup(limits.procs);
      // With sudo, a session may have been moved to another group, so its processes are also ended by their mark.
      if (!isRoot() || limits.procs.length === 0) await endUserProcesses(user, mark, othersOf(live).length === 0);
    },
    close: async () => {
      await takeBack(user, spec.git, live);
      await limits.close();
    },
  };
}

const LIVE = 'live';
const NO_GROUP = 'Memory is limited for each process, not for the session: there is no control group for it.';

/** Ends a session whose supervisor was killed. `mark`: `NAME=value` in the environment of its processes. */
export async function endLostUser({ user, git }: SandboxSpec, id: string, mark: string): Promise<void> {
  if (user === null) return;
  const live = join(dirname(user.folder), LIVE, id);
  await endUserProcesses(user, mark, othersOf(live).length === 0);
  await takeBack(user, git, live);
}

async function takeBack(user: UserSession, git: PrivateGit | null, live: string): Promise<void> {
  restoreGitFile(git);
  await reclaimFolders(user.shared, user);
  // A gate and its session share a worktree, so it is closed only with the last of them.
  if (!othersOf(live).includes(user.worktree)) closeFolders([user.worktree], user);
  rmSync(live, { force: true });
}

/** The worktrees of the user's other running sessions. */
function othersOf(own: string): readonly string[] {
  const places = dirname(dirname(dirname(own)));
  const all = listFolderIfPresent(places).flatMap((place) => {
    const folder = join(places, place, LIVE);
    return listFolderIfPresent(folder).map((name) => join(folder, name));
  });
  return all.flatMap((path) => {
    const text = path === own ? '' : readFileIfPresent(path);
    const [name = ''] = text.split(' ', 1);
    return name === '' || hasEnded(name) ? [] : [text.slice(name.length + 1)];
  });
}

/**
 * The session can replace the file that names the git directory. While the session owns it, git refuses to follow it;
 * it is written anew before the operator owns it again.
 */
function restoreGitFile(git: PrivateGit | null): void {
  if (git === null) return;
  const path = join(git.worktree, '.git');
  if (git.at === path) return;
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, `gitdir: ${git.at}\n`, { flag: 'wx' });
}
