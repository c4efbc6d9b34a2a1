import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findClaimFence } from '../../git/fence/install.ts';
import { findPrivateGit } from '../../git/private/find.ts';
import { isIsolated } from '../../protocol/sandbox.ts';
import { commandNetworkOf, isDefaultNetwork } from '../../runbook/access.ts';
import type { CheckNetwork } from '../../runbook/shape/access-shape.ts';
import type { Task } from '../../state/tasks/task.ts';
import { commandFiles, type Launch } from '../../supervisor/contract.ts';
import type { EffectContext } from '../context.ts';
import { buildSpec, type ConfinedCommand } from './build-spec.ts';
import { chooseSandbox, recordWithout } from './choose-sandbox.ts';
import { adaptLaunch, type ConfineResult, PLAIN, portsOf } from './confine-agent.ts';
import { readRemoteHosts } from './remote-hosts.ts';
import { resolveNetwork } from './resolve-network.ts';
import { moveCheckout, runFolderFor } from './user-place.ts';

/** Where a project command runs, and for what purpose. */
export interface CommandPlace {
  readonly folder: string;
  readonly kind: 'install' | 'checks';
  readonly task: Pick<Task, 'flow'> | null;
  readonly cache: ConfinedCommand['cacheUse'];
  /** The network of a check that sets its own. */
  readonly network?: CheckNetwork | undefined;
}

/** Adds the sandbox to the launch of a check, a gate or a set-up command. */
export async function confineCommand(
  launch: Launch,
  place: CommandPlace,
  context: EffectContext,
): Promise<ConfineResult> {
  const { access } = context.settingsFor(place.task);
  const choice = await chooseSandbox(access, undefined, context);
  if (!choice.ok) return choice;
  if (choice.kind === 'none') return { ok: true, launch: { ...launch, sandbox_record: recordWithout(choice.notes) } };
  const programs = await context.programs();
  const settings = commandNetworkOf(access, place.kind, place.network);
  const remotes = settings.policy === 'dev' ? await readRemoteHosts(context) : [];
  const isDefault = place.network === undefined && isDefaultNetwork(access, place.kind);
  const network = resolveNetwork(settings, { run: '', env: context.env, port: null, remotes, isDefault, context });
  const { folder, bin } = commandFiles(context.stateDir, launch.id);
  const runFolder = runFolderFor(choice, folder, context);
  const user = choice.kind === 'user' && choice.survey?.user.works === true ? choice.survey.user.user : null;
  const at = user === null ? place.folder : moveCheckout(place.folder, context.stateDir, user);
  const given = {
    ...PLAIN,
    folder: at,
    runFolder,
    cacheUse: place.cache,
    env: { ...context.env, ...launch.env },
    network: network.spec,
    git: await gitOf(place, context),
    mounts: [{ kind: 'read', at: bin, from: bin } as const],
    notes: network.notes,
  };
  const built = await buildSpec(given, choice, programs, context);
  if (!built.ok) return built;
  // The id of a check is that of its check run or merge, followed by a number.
  const parts = launch.id.split('.');
  if (isIsolated(choice.kind)) for (const i of parts.keys()) context.noteIsolated(parts.slice(0, i + 1).join('.'));
  const sandbox = { sandbox: built.spec, sandbox_helper: programs.networkHelper, forbidden_ports: portsOf(context) };
  return {
    ok: true,
    launch: adaptLaunch(
      { ...launch, ...sandbox, cwd: launch.cwd.replace(place.folder, at) },
      folder,
      runFolder,
      programs,
    ),
  };
}

/**
 * The checkout of a check is its own repository. A gate runs beside the session of its worktree, which could exchange
 * folders meanwhile.
 */
async function gitOf(
  { folder, kind }: CommandPlace,
  { path, stateDir }: EffectContext,
): Promise<ConfinedCommand['git']> {
  if (existsSync(join(folder, '.git', 'objects')) && folder !== path) return null;
  if (kind === 'checks' && findPrivateGit(stateDir, folder) !== null) return 'as it is';
  // The command works for the claim of its worktree, so only that claim's commits are imported.
  return { fence: await findClaimFence(folder), isResumed: true };
}
