import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allowedEnvironment } from '../../protocol/environment.ts';
import type { ContainerEngine, ContainerSpec, Mount } from '../../protocol/sandbox.ts';
import type { SandboxSettings } from '../../runbook/access.ts';
import { DEVCONTAINER_PATHS, type Devcontainer, parseDevcontainer } from '../../sandbox/container/devcontainer.ts';
import { devcontainerMounts } from '../../sandbox/container/devcontainer-mounts.ts';
import { fillRemoteEnv } from '../../sandbox/container/fill-variables.ts';
import { prepareImage } from '../../sandbox/container/prepare-image.ts';
import type { EffectContext } from '../context.ts';

export type ChosenImage =
  | {
      readonly ok: true;
      readonly container: ContainerSpec;
      readonly mounts: readonly Mount[];
      readonly env: Readonly<Record<string, string>>;
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads the devcontainer from the main checkout, because a branch must not choose its own sandbox. Undefined if there
 * is none.
 */
export function findDevcontainer(path: string): Devcontainer | undefined {
  const found = DEVCONTAINER_PATHS.find((each) => existsSync(join(path, each)));
  const parsed = found === undefined ? undefined : parseDevcontainer(found, readFileSync(join(path, found), 'utf8'));
  return parsed?.ok === true && parsed.devcontainer.source !== null ? parsed.devcontainer : undefined;
}

/** Returns the image of a session, pulled or built if needed: `sandbox.image`, else the repository's devcontainer. */
export async function chooseImage(
  { image, read, write }: SandboxSettings,
  engine: ContainerEngine,
  { folder: worktree, runFolder }: { readonly folder: string; readonly runFolder: string },
  { path, stateDir, projectId, env }: EffectContext,
): Promise<ChosenImage> {
  const devcontainer = image === undefined ? findDevcontainer(path) : undefined;
  const source = image === undefined ? devcontainer?.source : { image };
  if (!source) return { ok: false, reason: 'sandbox = "container" needs an image: set sandbox.image' };
  const log = join(stateDir, 'images', `${projectId}.log`);
  const prepared = await prepareImage({ engine, source, folder: path, log });
  if (!prepared.ok) return prepared;
  const variables = { local: allowedEnvironment(env).passed, container: prepared.env, worktree };
  const mounts = devcontainerMounts(devcontainer?.mounts ?? [], { variables, project: projectId, read, write });
  const remote = fillRemoteEnv(devcontainer?.remoteEnv ?? {}, variables);
  return {
    ok: true,
    container: { engine, source: { image: prepared.image }, args: mounts.args },
    mounts: mounts.mounts,
    env: withShims({ PATH: prepared.env['PATH'] ?? DEFAULT_PATH, ...remote.env }, runFolder),
    notes: [...(devcontainer?.notes ?? []), ...mounts.notes, ...remote.notes],
  };
}

/** Puts Baton's programs for the run (`baton`, `git`) before those of the image. */
function withShims(env: Readonly<Record<string, string>>, runFolder: string): Readonly<Record<string, string>> {
  return { ...env, PATH: `${join(runFolder, 'bin')}:${env['PATH']}` };
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
