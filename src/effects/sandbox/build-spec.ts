import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findPrivateGit } from '../../git/private/find.ts';
import { preparePrivateGit, type PrivateGitRequest } from '../../git/private/prepare.ts';
import { privateGitMounts } from '../../git/private/mounts.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import { SESSION_FOLDER, WORKTREES_FOLDER } from '../../git/worktree/ignore-rules.ts';
import { isIsolated } from '../../protocol/sandbox.ts';
import type {
  CommandSpec,
  CredentialFile,
  Mount,
  NetworkSpec,
  PrivateGit,
  SandboxSpec,
  UserSpec,
} from '../../protocol/sandbox.ts';
import type { SandboxSettings } from '../../runbook/access.ts';
import { planCaches } from '../../sandbox/plan/caches.ts';
import { planCommandWrites } from '../../sandbox/plan/command-writes.ts';
import { findPrograms } from '../../sandbox/plan/home-rules.ts';
import { uppersOf } from '../../sandbox/plan/layer-paths.ts';
import { isInside } from '../../sandbox/plan/paths.ts';
import { planMounts } from '../../sandbox/plan/plan-mounts.ts';
import { readMachine } from '../../sandbox/machine.ts';
import { writeCopies } from '../../sandbox/write-copies.ts';
import type { Programs } from '../../supervisor/programs.ts';
import type { EffectContext } from '../context.ts';
import { chooseImage } from './choose-image.ts';
import type { ChosenSandbox } from './choose-sandbox.ts';
import { NODE_MOUNT } from './node-inside.ts';
import { type CacheUse, type CommandCache, layersOf, makeOwnFolders } from './own-folders.ts';
import { filesInForce, findOtherHome, linkedFolders, outsideSockets, ownConfiguration } from './project-paths.ts';
import { findAccessProblem, makeHome, placePrivateGit } from './user-place.ts';

/** One process to run in a sandbox. */
export interface ConfinedProcess {
  /** The working folder: the worktree of a task, a checkout, or the repository itself. */
  readonly folder: string;
  /** The run's folder in the state folder, for the sandbox's own files. */
  readonly runFolder: string;
  readonly cacheUse: CacheUse;
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly network: NetworkSpec;
  /** `as it is`: a session runs in the folder. Its git directory is shown, but neither prepared nor synced. */
  readonly git: Pick<PrivateGitRequest, 'branch' | 'fence' | 'isResumed'> | 'as it is' | null;
  /** The files that Baton wrote for the process, and whatever else it may read. */
  readonly reads: readonly string[];
  readonly mounts: readonly Mount[];
  readonly credentials: readonly CredentialFile[];
  readonly variables: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** A command of the project: what it writes outside its own folders is dropped. */
export type ConfinedCommand = ConfinedProcess & { readonly cacheUse: CommandCache };

export type SpecResult<Spec extends SandboxSpec = SandboxSpec> =
  | { readonly ok: true; readonly spec: Spec }
  | { readonly ok: false; readonly reason: string };

/** Builds what the supervisor needs to start the process: what it sees, reaches and may use. */
export async function buildSpec(
  given: ConfinedCommand,
  choice: ChosenSandbox,
  programs: Programs,
  context: EffectContext,
): Promise<SpecResult<CommandSpec>>;
export async function buildSpec(
  given: ConfinedProcess,
  choice: ChosenSandbox,
  programs: Programs,
  context: EffectContext,
): Promise<SpecResult>;
export async function buildSpec(
  given: ConfinedProcess,
  choice: ChosenSandbox,
  programs: Programs,
  context: EffectContext,
): Promise<SpecResult> {
  const { kind, plan } = choice;
  if (kind === 'none') return { ok: false, reason: 'no sandbox was chosen' };
  const { stateDir, path } = context;
  const folder = join(given.runFolder, 'sandbox');
  const user = kind === 'user' && choice.survey?.user.works === true ? choice.survey.user.user : null;
  const { home, tmp, cache, written, layers, how } = await makeOwnFolders(given, choice, user, context);
  // Without a private git directory the session uses the repository's, behind the fence.
  const [git, repository] = await Promise.all([
    isIsolated(kind) ? openGit(given, stateDir, user) : NO_GIT,
    findRepositoryOnce(path),
  ]);
  if (!git.ok) return git;
  const refusal = user === null ? undefined : await findAccessProblem(user, programs, git.value, given, context);
  if (refusal !== undefined) return { ok: false, reason: refusal };
  if (!repository.ok) return { ok: false, reason: repository.problem.message };
  const machine = readMachine(given.env);
  const { mainTop, commonDir } = repository.value;
  const own = [dirname(programs.scripted), batonFolder(programs)];
  // A container has its image's programs, and Node at another path.
  const wanted = kind === 'container' ? own : [process.execPath, ...own, ...programOf(given)];
  const shown = findPrograms(machine, wanted, [stateDir, mainTop]);
  const inForce = filesInForce(context, mainTop, commonDir);
  const planned = planMounts(
    machine,
    {
      home,
      tmp,
      worktree: given.folder,
      sessionFolder: SESSION_FOLDER,
      stateDir,
      secrets: [...outsideSockets(stateDir), ...ownConfiguration(context, plan)],
      realHome: findOtherHome(context, machine),
      repository: mainTop,
      worktrees: join(mainTop, WORKTREES_FOLDER),
      commonDir: git.value === null ? null : commonDir,
      inForce,
      files: given.reads,
      linked: linkedFolders(context, mainTop, machine),
      programs: shown,
      cache,
      mounts: [...given.mounts, ...(git.value === null ? [] : privateGitMounts(git.value))],
    },
    plan,
    { needsMountPoints: kind !== 'user' },
  );
  if (!planned.ok) return { ok: false, reason: `${planned.problem.message}. ${planned.problem.hint}` };
  const caches = planCaches(machine, cache.at, written.cache);
  const copies = planned.value.copies.map((copy) => ({ ...copy, folder: written.home }));
  const uncopied = writeCopies([...copies, ...caches.copies]);
  const { system, mounts, hidden, env, notes } = planned.value;
  const engine =
    kind === 'container' && choice.survey?.container.works === true ? choice.survey.container.engine : null;
  if (user !== null) makeHome(written.home, mounts, machine.home);
  const image = engine === null ? undefined : await chooseImage(choice, engine, given, context);
  if (image?.ok === false) return image;
  const spec: SandboxSpec = {
    kind,
    system,
    mounts: image === undefined ? mounts : [NODE_MOUNT, ...shown.map(showProgram), ...mounts, ...image.mounts],
    layers,
    hidden,
    nested: plan.nested,
    limits: limitsOf(plan),
    network: given.network,
    env: {
      ...env,
      ...caches.env,
      ...image?.env,
      ...(user === null ? {} : userEnv(given, home, tmp, git.value)),
      ...given.variables,
    },
    git: given.git === 'as it is' ? null : git.value,
    credentials: given.credentials,
    temporary: [tmp],
    ...divideWritten(mounts, [given.folder, folder], git.value),
    bwrap: choice.survey?.bubblewrap.works === true ? choice.survey.bubblewrap : null,
    container: image?.container ?? null,
    user: user && {
      ...user,
      folder: given.runFolder,
      worktree: given.folder,
      shared: sharedFolders(given, cache.from, mounts, git.value),
      closed: [
        commonDir,
        join(mainTop, WORKTREES_FOLDER),
        join(mainTop, 'baton.toml'),
        join(mainTop, '.baton/runbooks'),
      ],
    },
    notes: [...choice.notes, ...notes, ...uncopied, ...given.notes, ...(image?.notes ?? [])],
  };
  if ('session' in given.cacheUse)
    return { ok: true, spec: { ...spec, measured: [...spec.measured, ...uppersOf(layers)] } };
  const ofGit =
    git.value === null ? [] : privateGitMounts(git.value).flatMap((mount) => ('from' in mount ? [mount.from] : []));
  const writable = [given.folder, given.runFolder, ...ofGit];
  return {
    ok: true,
    spec: planCommandWrites(spec, { own: writable, layers: layersOf(given.runFolder), how }, machine),
  };
}

/**
 * Everything that the process can write counts against its limit, including its commits: each is imported, even if the
 * session drops it later.
 */
function divideWritten(
  mounts: readonly Mount[],
  folders: readonly string[],
  git: PrivateGit | null,
): Pick<SandboxSpec, 'measured' | 'shared'> {
  const measured = [...folders, ...(git === null ? [] : [git.folder])];
  const written = mounts.flatMap((mount) => (mount.kind === 'write' ? [mount.from] : []));
  const others = written.filter((path) => !measured.some((folder) => isInside(path, folder)));
  const imported = git === null ? [] : ['objects', 'lfs/objects'].map((name) => join(git.commonDir, name));
  return { measured, shared: [...others, ...imported] };
}

/**
 * Caches the result. A repository's folders do not change while its project is open, and asking git takes as long as
 * the sandbox itself.
 */
async function findRepositoryOnce(path: string): ReturnType<typeof findRepository> {
  const known = repositories.get(path);
  if (known !== undefined && existsSync(known.commonDir)) return { ok: true, value: known };
  const found = await findRepository(path);
  if (found.ok) repositories.set(path, found.value);
  return found;
}

const repositories = new Map<string, Repository>();

/** The package of Baton, which holds `bin/baton.cjs`. */
function batonFolder({ baton }: Programs): string {
  return dirname(dirname(baton));
}

/** Where PATH finds the program. */
function programOf({ program, env }: ConfinedProcess): readonly string[] {
  if (program.startsWith('/')) return [program];
  const paths = (env['PATH'] ?? '').split(':').map((folder) => join(folder, program));
  return paths.filter((path) => existsSync(path)).slice(0, 1);
}

/** An image lacks Baton, which hooks and `baton` need. A program in a system folder has no mount yet. */
function showProgram(path: string): Mount {
  return { kind: 'read', at: path, from: path };
}

const NO_GIT = { ok: true, value: null } as const;

/** There are no mounts in this mode, so HOME and the temporary folder are real paths. */
function userEnv(
  { runFolder, env, folder }: ConfinedProcess,
  home: string,
  tmp: string,
  git: PrivateGit | null,
): Readonly<Record<string, string>> {
  const own = { HOME: home, TMPDIR: tmp, TMP: tmp, TEMP: tmp, XDG_RUNTIME_DIR: tmp };
  // The repository of a check belongs to the operator, so git would refuse it.
  const trust = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: folder };
  return {
    ...own,
    ...(git === null ? trust : {}),
    PATH: `${join(runFolder, 'bin')}:${env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'}`,
  };
}

/**
 * Folders that the agent's user may write: folders of Baton, and the worktree. Others, such as `sandbox.write`, keep
 * their modes.
 */
function sharedFolders(
  { runFolder, folder, mounts: own }: ConfinedProcess,
  cache: string,
  mounts: readonly Mount[],
  git: PrivateGit | null,
): readonly string[] {
  const copies = [...own, ...mounts].flatMap((mount) => (mount.kind === 'write' ? [mount.from] : []));
  const ofRun = copies.filter((path) => path.startsWith(`${runFolder}/`));
  return [...new Set([...ofRun, folder, cache, ...(git === null ? [] : [join(git.folder, 'git')])])];
}

async function openGit(
  { folder, git }: ConfinedProcess,
  stateDir: string,
  user: UserSpec | null,
): Promise<{ readonly ok: true; readonly value: PrivateGit | null } | { readonly ok: false; readonly reason: string }> {
  if (git === null) return { ok: true, value: null };
  if (git === 'as it is') return { ok: true, value: findPrivateGit(stateDir, folder) };
  if (user !== null) placePrivateGit(stateDir, folder, user);
  const unmounted = user === null ? {} : ({ isUnmounted: true } as const);
  const made = await preparePrivateGit({ ...git, ...unmounted, stateDir, worktree: folder });
  return made.ok ? made : { ok: false, reason: `${made.problem.message}. ${made.problem.hint}` };
}

function limitsOf({ processes, memory_bytes, disk_bytes }: SandboxSettings): SandboxSpec['limits'] {
  return { processes, memory_bytes, disk_bytes };
}
