import { join } from 'node:path';
import type { CommandSandboxes } from '../../agents/builtin/run-shell.ts';
import { clientVariables, findAdapter } from '../../agents/prepare-agent.ts';
import { readUserSetup } from '../../agents/user-setup.ts';
import { readDaemonRecord } from '../../api/state-folder.ts';
import type { Environment } from '../../protocol/environment.ts';
import type { CommandSpec, Mount } from '../../protocol/sandbox.ts';
import { fieldsOf } from '../../protocol/shape/read-unknown.ts';
import {
  commandNetworkOf,
  findFollowedNetwork,
  isDefaultNetwork,
  networkOf,
  renderPolicy,
} from '../../runbook/access.ts';
import { withKept } from '../../sandbox/plan/layer-paths.ts';
import { agentFiles, type Launch } from '../../supervisor/contract.ts';
import type { Programs } from '../../supervisor/programs.ts';
import type { LaunchMade, StartedAgent } from '../agents/launch-agent.ts';
import type { EffectContext } from '../context.ts';
import { buildSpec, type ConfinedProcess, type SpecResult } from './build-spec.ts';
import { type ChosenSandbox as Chosen, recordWithout } from './choose-sandbox.ts';
import { copyClientFiles } from './client-copies.ts';
import { useNodeInside } from './node-inside.ts';
import { layersOf } from './own-folders.ts';
import { readRemoteHosts } from './remote-hosts.ts';
import { type NetworkUser, type ResolvedNetwork, resolveNetwork } from './resolve-network.ts';
import { type SeparatedSession, separateShell } from './separate-shell.ts';
import { gitShimOf, runFolderFor, useUserFolder } from './user-place.ts';

export type ConfineResult =
  | { readonly ok: true; readonly launch: Launch }
  | { readonly ok: false; readonly reason: string };

/**
 * Adds the sandbox to the launch of an agent. A built-in role stays outside, but the project's commands that it runs
 * are confined.
 */
export async function confineAgent(
  made: LaunchMade,
  started: StartedAgent,
  choice: Chosen,
  programs: Programs,
  context: EffectContext,
  signal: AbortSignal,
): Promise<ConfineResult> {
  const { launch } = made;
  const unenforced = findUnenforced(started, choice);
  if (unenforced !== undefined) return { ok: false, reason: unenforced };
  if (choice.kind === 'none') return { ok: true, launch: { ...launch, sandbox_record: recordWithout(choice.notes) } };
  const shared = { sandbox_helper: programs.networkHelper, forbidden_ports: portsOf(context) };
  if (started.run.plan.run.startsWith('builtin:')) {
    const commands = await confineCommands(made, started, choice, programs, context, signal);
    return commands.ok ? { ok: true, launch: { ...commands.launch, ...shared } } : commands;
  }
  const { folder } = agentFiles(context.stateDir, started.run.id);
  const runFolder = runFolderFor(choice, folder, context);
  const lowers = await findSessionCache(made, started, context, signal);
  const own = { runFolder, lowers, remotes: await readRemoteHosts(context) };
  const built = await buildSpec(describe(made, started, own, context), choice, programs, context);
  if (!built.ok) return built;
  const { injectedFlags = [] } = findAdapter(started.run.plan.run) ?? {};
  const [program, ...args] = launch.argv;
  const flags = built.spec.network.inject.length === 0 ? [] : injectedFlags;
  const confined: Launch = { ...launch, ...shared, argv: [program, ...flags, ...args], sandbox: built.spec };
  const adapted = adaptLaunch(confined, folder, runFolder, programs);
  return { ok: true, launch: separateShell(adapted, describeClient(made, started, runFolder, context), programs) };
}

/**
 * Why the session must not start: a person has chosen a narrow network, and the only sandbox that works here has the
 * network of the machine. `dev` is for every machine, so it applies where it can.
 */
function findUnenforced({ run: { plan }, access }: StartedAgent, { kind }: Chosen): string | undefined {
  const { policy } = networkOf(access, plan);
  // The built-in roles are Baton's own programs, and checks have no network by default.
  const isOpen = policy === 'full' || policy === 'dev' || findFollowedNetwork(plan.run) !== undefined;
  if ((kind !== 'none' && kind !== 'user') || isOpen) return undefined;
  const had = kind === 'none' ? 'no sandbox works here' : 'only the sandbox user works here';
  return `${had}, so the network cannot be limited to ${renderPolicy(policy)}. See: baton doctor`;
}

/** Rewrites the launch's paths, which differ between sandboxes. */
export function adaptLaunch(launch: Launch, folder: string, runFolder: string, programs: Programs): Launch {
  if (launch.sandbox?.kind === 'container') return useNodeInside(launch);
  return launch.sandbox?.kind === 'user' ? useUserFolder(launch, folder, runFolder, programs) : launch;
}

export function portsOf({ stateDir }: Pick<EffectContext, 'stateDir'>): readonly number[] {
  const port = readDaemonRecord(stateDir)?.port;
  return port === undefined ? [] : [port];
}

interface OwnPlaces {
  readonly runFolder: string;
  readonly lowers: readonly string[];
  /** The hosts of the git remotes. */
  readonly remotes: readonly string[];
}

function describe(
  { launch, reads = [], writes = [], program }: LaunchMade,
  started: StartedAgent,
  { runFolder, lowers, remotes }: OwnPlaces,
  context: EffectContext,
): ConfinedProcess {
  const { run, start, workplace } = started;
  const { folder, bin, config } = agentFiles(context.stateDir, run.id);
  const move = (path: string): string => path.replace(folder, runFolder);
  const env = { ...context.env, ...run.plan.env };
  const files = findAdapter(run.plan.run)?.clientFiles?.(env, launch.cwd);
  const network = resolveNetworkOf(started, env, { port: portOf(launch), remotes }, context);
  const own = join(runFolder, 'sandbox');
  const isInjected = network.spec.inject.length > 0;
  // A login would be a second key that the session could read.
  const copied = (files?.copied ?? []).filter((each) => !isInjected || (!each.isCredential && !each.isSecret));
  const places = { folder: own, home: env['HOME'] ?? '/', privateHome: join(own, 'home') };
  const copies = copyClientFiles({ ...files, copied }, places);
  // A judging session has no namespaces of its own: see `separateShell`.
  const { nested = false } = launch.judge === undefined ? (run.plan.sandbox ?? {}) : {};
  const isOwnOff = files !== undefined && !nested;
  return {
    folder: workplace,
    runFolder,
    cacheUse: { session: true, lowers },
    program: program ?? launch.argv[0],
    env: { ...env, ...launch.env },
    network: network.spec,
    git: { ...started.git, isResumed: start > 1 },
    reads,
    // The supervisor writes these files before the start.
    mounts: [
      ...copies.mounts,
      ...writes.map((path) => showAs('write', move(path))),
      // A link lies in a folder that the client writes.
      ...(launch.files ?? []).flatMap(({ path, link }) => (link === undefined ? [showAs('read', path)] : [])),
      ...[bin, config].map((path) => showAs('read', path)),
    ],
    credentials: copies.credentials,
    variables: { ...network.variables, ...(isOwnOff ? files.withoutOwnSandbox : {}) },
    notes: [...network.notes, ...(isOwnOff ? [OWN_OFF] : [])],
  };
}

/**
 * The cache below the layer of a session. A start does not wait until it is filled. A judging session begins with an
 * empty one: its shell is another sandbox, and two cannot share an overlay.
 */
async function findSessionCache(
  { launch }: LaunchMade,
  { run }: StartedAgent,
  context: EffectContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (launch.judge !== undefined) return [];
  const task = (await context.readState(({ tasks }) => tasks.get(run.task?.task_id ?? ''))) ?? null;
  return context.cachesFor({ task, sha: null, isAwaited: false, keptIn: '' }, context, signal);
}

function describeClient(
  { launch, program, commands = [] }: LaunchMade,
  { run, workplace }: StartedAgent,
  runFolder: string,
  context: EffectContext,
): SeparatedSession {
  const env = { ...context.env, ...run.plan.env };
  return {
    run: run.plan.run,
    runFolder,
    bin: agentFiles(context.stateDir, run.id).bin,
    env: { ...env, ...launch.env },
    program: program ?? launch.argv[0],
    commands,
    worktree: workplace,
    projectSettings: findAdapter(run.plan.run)?.projectSettings ?? [],
    tmpVariable: findAdapter(run.plan.run)?.shellTmpVariable,
    variables: clientVariables(run.plan, env, readUserSetup(run.plan.run, env)),
  };
}

function resolveNetworkOf(
  { run: { plan }, access }: StartedAgent,
  env: Environment,
  place: Pick<NetworkUser, 'port' | 'remotes'>,
  context: EffectContext,
): ResolvedNetwork {
  const person = readClientEnvironment(plan.run, context.env);
  const { secrets } = access;
  const isDefault = isDefaultNetwork(access, plan.network);
  const own = { run: plan.run, ...readClientEnvironment(plan.run, env), person };
  const user = { ...own, ...place, isDefault, secrets, context };
  return resolveNetwork(networkOf(access, plan), user);
}

/** The client's settings may name the address of its API. */
function readClientEnvironment(run: string, env: Environment) {
  const user = readUserSetup(run, env);
  const own = Object.entries(fieldsOf(user?.settings['env'])).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return { env: { ...env, ...Object.fromEntries(own) }, urls: user?.urls ?? [] };
}

function showAs(kind: 'read' | 'write', path: string): Mount {
  return { kind, at: path, from: path };
}

const OWN_OFF = "The client's own sandbox is off: sandbox.nested = true would allow it.";

function portOf({ env }: Launch): number | null {
  const port = Number(env['BATON_PORT'] ?? '');
  return Number.isInteger(port) && port > 0 ? port : null;
}

/** Builds one sandbox for installing and one for checks, in a file that the role reads. */
async function confineCommands(
  { launch }: LaunchMade,
  started: StartedAgent,
  choice: Chosen,
  programs: Programs,
  context: EffectContext,
  signal: AbortSignal,
): Promise<ConfineResult> {
  const { run, workplace, access } = started;
  const { folder } = agentFiles(context.stateDir, run.id);
  const runFolder = runFolderFor(choice, folder, context);
  // What an installation of this session fetches, its later commands find; a check passes nothing on.
  const installed = join(layersOf(runFolder), 'installed');
  const isInstalling = findFollowedNetwork(run.plan.run) === 'install';
  const task = (await context.readState(({ tasks }) => tasks.get(run.task?.task_id ?? ''))) ?? null;
  const wish = { task, sha: isInstalling ? null : (task?.flow.head ?? null), isAwaited: !isInstalling };
  const lowers = await context.cachesFor({ ...wish, keptIn: join(layersOf(runFolder), 'fetched') }, context, signal);
  const remotes = await readRemoteHosts(context);
  const build = async (kind: 'install' | 'checks'): Promise<SpecResult<CommandSpec>> => {
    const settings = { ...commandNetworkOf(access, kind), ...run.plan.network };
    const isDefault = isDefaultNetwork(access, run.plan.network === undefined ? kind : run.plan.network);
    const user = { run: '', env: context.env, port: null, remotes, isDefault, context };
    const network = resolveNetwork(settings, user);
    const given = {
      ...PLAIN,
      folder: workplace,
      runFolder,
      cacheUse: kind === 'install' ? { lowers, keptIn: installed } : { lowers: withKept(installed, lowers) },
      env: { ...context.env, ...launch.env },
      network: network.spec,
      git: { ...started.git, isResumed: true },
      notes: network.notes,
    };
    return buildSpec(given, choice, programs, context);
  };
  const install = await build('install');
  if (!install.ok) return install;
  const check = await build('checks');
  if (!check.ok) return check;
  const sandboxes: CommandSandboxes = {
    install: install.spec,
    check: check.spec,
    helper: programs.networkHelper,
    forbidden_ports: portsOf(context),
  };
  const path = join(folder, 'command-sandbox.json');
  const file = { path, content: JSON.stringify(sandboxes), mode: 0o600 };
  // What its commands have: the program itself reaches only Baton.
  const network = renderPolicy(networkOf(access, run.plan).policy);
  const record = { kind: choice.kind, network, limits: 'none', notes: [...choice.notes, BUILT_IN] } as const;
  return {
    ok: true,
    launch: {
      ...launch,
      env: { ...launch.env, BATON_COMMAND_SANDBOX: path },
      files: [...(launch.files ?? []), file, ...(choice.kind === 'user' ? gitShimOf(check.spec, runFolder) : [])],
      sandbox_record: record,
    },
  };
}

const BUILT_IN =
  "This role is a program of Baton and runs outside the sandbox; the project's commands run in the sandbox.";

/** The settings for a project command: no client, and nothing to read except its folder. */
export const PLAIN = {
  program: '/bin/sh',
  reads: [],
  mounts: [],
  credentials: [],
  variables: {},
} as const;
