import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { makeCheckout, removeCheckout } from '../../git/checkout/make-checkout.ts';
import { gitText } from '../../git/run-git.ts';
import { allowedEnvironment } from '../../protocol/environment.ts';
import type { ContainerEngine, ContainerSpec, Mount } from '../../protocol/sandbox.ts';
import type { FoundDevcontainer } from '../../sandbox/container/devcontainer.ts';
import { devcontainerMounts } from '../../sandbox/container/devcontainer-mounts.ts';
import { fillRemoteEnv } from '../../sandbox/container/fill-variables.ts';
import { type ImageSource, prepareImage } from '../../sandbox/container/prepare-image.ts';
import type { EffectContext } from '../context.ts';
import { findMainOf } from '../sessions/workplace.ts';
import type { ChosenSandbox } from './choose-sandbox.ts';

export type ChosenImage =
  | {
      readonly ok: true;
      readonly container: ContainerSpec;
      readonly mounts: readonly Mount[];
      readonly env: Readonly<Record<string, string>>;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

/** Returns the image of a session, pulled or built if needed: `sandbox.image`, else the adopted devcontainer. */
export async function chooseImage(
  { plan: { image, read, write }, devcontainer }: ChosenSandbox,
  engine: ContainerEngine,
  { folder: worktree, runFolder }: { readonly folder: string; readonly runFolder: string },
  context: EffectContext,
): Promise<ChosenImage> {
  const { stateDir, projectId, env } = context;
  const used = image === undefined ? devcontainer : undefined;
  const source = image === undefined ? await findSource(devcontainer, context) : { image };
  if ('reason' in source) return { ok: false, reason: source.reason };
  const log = join(stateDir, 'images', `${projectId}.log`);
  const prepared = await prepareImage({ engine, source, log });
  if (!prepared.ok) return prepared;
  const variables = { local: allowedEnvironment(env).passed, container: prepared.env, worktree };
  const mounts = devcontainerMounts(used?.mounts ?? [], { variables, project: projectId, read, write });
  const remote = fillRemoteEnv(used?.remoteEnv ?? {}, variables);
  return {
    ok: true,
    container: { engine, source: { image: prepared.image }, args: mounts.args },
    mounts: mounts.mounts,
    env: withShims({ PATH: prepared.env['PATH'] ?? DEFAULT_PATH, ...remote.env }, runFolder),
    notes: [...(used?.notes ?? []), ...mounts.notes, ...remote.notes],
  };
}

type FoundSource = { readonly image: string } | ImageSource | { readonly reason: string };

/** Files that a build copies come from the main branch, where a person has agreed to them; sessions write elsewhere. */
async function findSource(devcontainer: FoundDevcontainer | undefined, context: EffectContext): Promise<FoundSource> {
  const { source = null, dockerfile = null } = devcontainer ?? {};
  if (source === null) return { reason: 'sandbox = "container" needs an image: set sandbox.image' };
  if ('image' in source) return source;
  const { build } = source;
  if (dockerfile === null)
    return { reason: `${build.dockerfile} is not part of the adopted runbook: baton runbook adopt` };
  const main = await findMainOf(null, context);
  const own = main.ok ? await context.ownRepository.with(main.value.sha) : main;
  if (!main.ok || !own.ok) return { reason: `the image cannot be built: ${own.ok ? '' : own.problem.message}` };
  const { name, sha } = main.value;
  const tree = await gitText(['rev-parse', `${sha}:${build.context === '.' ? '' : build.context}`], { cwd: own.value });
  if (!tree.ok) return { reason: `the image cannot be built: ${name} has no folder ${build.context}` };
  const folder = join(context.stateDir, 'checkouts', `image-${randomUUID()}`);
  return {
    build,
    dockerfile,
    tree: tree.value,
    checkOut: async () => {
      const { filters } = context.settingsFor(null);
      const request = { sha, base: sha, filters, main: { name, sha }, stateDir: context.stateDir };
      const made = await makeCheckout(own.value, request, folder);
      if (!made.ok) return { ok: false, reason: made.problem.message };
      return { ok: true, folder, remove: async () => removeCheckout(folder) };
    },
  };
}

/** Puts Baton's programs for the run (`baton`, `git`) before those of the image. */
function withShims(env: Readonly<Record<string, string>>, runFolder: string): Readonly<Record<string, string>> {
  return { ...env, PATH: `${join(runFolder, 'bin')}:${env['PATH']}` };
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
