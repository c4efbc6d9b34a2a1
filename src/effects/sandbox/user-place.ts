import { createHash } from 'node:crypto';
import { chmodSync, chownSync, cpSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { stateFiles } from '../../api/state-folder.ts';
import { gitPlaceShim } from '../../agents/git-place-shim.ts';
import { privateGitFolder } from '../../git/private/find.ts';
import type { Mount, PrivateGit, SandboxSpec, UserSpec } from '../../protocol/sandbox.ts';
import { agentSessions } from '../../sandbox/user/agent-user.ts';
import { checkAccess } from '../../sandbox/user/check-access.ts';
import { showFolder } from '../../sandbox/user/share-folders.ts';
import { homeLinks } from '../../sandbox/user/home-links.ts';
import type { Launch, LaunchFile } from '../../supervisor/contract.ts';
import type { Programs } from '../../supervisor/programs.ts';
import type { EffectContext } from '../context.ts';
import type { ChosenSandbox } from './choose-sandbox.ts';
import { replaceInLaunch } from './node-inside.ts';

/**
 * Another user has no mounts, and the state folder is closed to it. So the files of a session of mode `user` lie in a
 * separate folder outside the state folder, and the launch names that folder instead.
 */
export function runFolderFor(
  { kind }: Pick<ChosenSandbox, 'kind'>,
  folder: string,
  { stateDir }: Pick<EffectContext, 'stateDir'>,
): string {
  return kind === 'user' ? join(placeOf(stateDir), basename(folder)) : folder;
}

export function cacheFolderFor(
  { kind }: Pick<ChosenSandbox, 'kind'>,
  { stateDir }: Pick<EffectContext, 'stateDir'>,
): string {
  return join(kind === 'user' ? placeOf(stateDir) : stateDir, 'caches');
}

/** One folder per state folder, because several people may share the machine and its user for agents. */
function placeOf(stateDir: string): string {
  return join(agentSessions(), createHash('sha256').update(stateDir).digest('hex').slice(0, 12));
}

/** The private git directory of a worktree, with a link to it where Baton expects it. */
export function placePrivateGit(stateDir: string, worktree: string, user: UserSpec): void {
  const link = privateGitFolder(stateDir, worktree);
  const folder = join(placeOf(stateDir), 'private-git', basename(link));
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true && existsSync(folder)) return;
  makePassage(dirname(folder), user);
  makePassage(folder, user);
  mkdirSync(dirname(link), { recursive: true, mode: 0o700 });
  // From a session in another sandbox.
  if (existsSync(link)) cpSync(link, folder, { recursive: true });
  rmSync(link, { recursive: true, force: true });
  symlinkSync(folder, link);
}

/** Makes a folder that the agent's user may enter, but not list or write. */
export function makePassage(folder: string, { gid }: UserSpec): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chownSync(folder, process.getuid?.() ?? 0, gid);
  chmodSync(folder, 0o710);
}

/** Moves a checkout of the state folder to where the agent's user can reach it, and leaves a link in its place. */
export function moveCheckout(folder: string, stateDir: string, user: UserSpec): string {
  if (!folder.startsWith(`${stateDir}/`)) return folder;
  const moved = join(placeOf(stateDir), 'checkouts', basename(folder));
  if (lstatSync(folder).isSymbolicLink()) return moved;
  makePassage(dirname(moved), user);
  rmSync(moved, { recursive: true, force: true });
  cpSync(folder, moved, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  rmSync(folder, { recursive: true });
  symlinkSync(moved, folder);
  return moved;
}

/** Fills HOME with links to the operator's files that the session may use, again for each process. */
export function makeHome(home: string, mounts: readonly Mount[], outside: string): void {
  for (const { path, link } of homeLinks(mounts, outside)) {
    const at = join(home, path);
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(link === null ? at : dirname(at), { recursive: true });
    if (link !== null) symlinkSync(link, at);
  }
}

/** Returns why the session cannot start: a path that it needs is closed, or a secret is readable. */
export async function findAccessProblem(
  user: UserSpec,
  programs: Programs,
  git: PrivateGit | null,
  { folder }: { readonly folder: string },
  { stateDir, path }: Pick<EffectContext, 'stateDir' | 'path'>,
): Promise<string | undefined> {
  const { operatorToken, workerToken, metricsToken, sessionSecret, signingKey, socket } = stateFiles(stateDir);
  const problems = await checkAccess(user, {
    read: [process.execPath, programs.baton, ...(git?.objects ?? [])],
    write: [],
    hidden: [stateDir, operatorToken, workerToken, metricsToken, sessionSecret, signingKey, socket],
    kept: [
      ...(folder === path ? [] : [path]),
      ...(git === null ? [] : ['', 'config', 'hooks', 'refs', 'objects'].map((name) => join(git.commonDir, name))),
    ],
  });
  return problems.length === 0 ? undefined : `sandbox = "user" cannot start a session: ${problems.join('; ')}`;
}

/** Rewrites the launch to the paths of the session's own folder, and adds its `git`. */
export function useUserFolder(launch: Launch, folder: string, runFolder: string, programs: Programs): Launch {
  const programFolders = copyPrograms(programs, launch, runFolder);
  const moved = replaceInLaunch(launch, [[folder, runFolder], ...programFolders]);
  return { ...moved, files: [...(moved.files ?? []), ...gitShimOf(launch.sandbox, runFolder)] };
}

export function gitShimOf(spec: SandboxSpec | undefined, runFolder: string): readonly LaunchFile[] {
  return spec?.git ? gitPlaceShim(join(runFolder, 'bin'), spec.git) : [];
}

/** In a clone the programs are in the state folder. */
function copyPrograms(
  { scripted }: Programs,
  { state_dir: stateDir, sandbox }: Launch,
  runFolder: string,
): readonly (readonly [string, string])[] {
  const folder = dirname(scripted);
  if (!folder.startsWith(`${stateDir}/`)) return [];
  const copy = join(dirname(runFolder), basename(folder));
  if (!existsSync(copy)) cpSync(folder, copy, { recursive: true });
  // The original is readable by the operator only.
  if (sandbox?.user) showFolder(copy, sandbox.user);
  return [[folder, copy]];
}
