import type { Environment } from '../protocol/environment.ts';
import type { ContainerEngine, SandboxKind, UserSpec } from '../protocol/sandbox.ts';
import { readFileIfPresent } from '../api/files.ts';
import { chooseMode } from './choose-mode.ts';
import { probeContainers } from './container/probe-containers.ts';
import type { NotUsable } from './explain-bubblewrap.ts';
import { installCommand } from './install-command.ts';
import { type Probe, probeBubblewrap, probeSandboxes } from './probe.ts';
import { isRoot, isUserModeSetUp } from './user/agent-user.ts';

/** The modes that work on this machine, with what each needs to start a process. */
export type SandboxSurvey = Probe<
  { readonly engine: ContainerEngine; readonly notes: readonly string[] },
  { readonly user: UserSpec }
>;

/** Tests the modes. Calls the container engine only if `wantsContainer`, because that takes a second. */
export async function surveySandboxes(env: Environment, wantsContainer: boolean): Promise<SandboxSurvey> {
  return probeSandboxes(
    {
      container: async () => {
        if (!wantsContainer) return NO_IMAGE;
        const found = await probeContainers();
        if (found.ok) return { works: true, engine: found.engine, notes: found.notes };
        const install = installCommand('podman', readFileIfPresent('/etc/os-release'), isRoot());
        return { works: false, reason: found.reasons.join('; '), fix: `Install podman: ${install}` };
      },
      user: async () => {
        const found = await isUserModeSetUp();
        return found.ok ? { works: true, user: found.user } : { works: false, reason: found.reason, fix: found.fix };
      },
    },
    env,
  );
}

/** What the mode `auto` gives on this machine. Asks the container engine only if bubblewrap does not work. */
export async function resolveAuto(env: Environment, hasImage: boolean): Promise<SandboxKind> {
  if ((await probeBubblewrap(env)).works) return 'bubblewrap';
  const chosen = chooseMode('auto', await surveySandboxes(env, hasImage), hasImage);
  return chosen.ok ? chosen.kind : 'none';
}

const NO_IMAGE: NotUsable = {
  works: false,
  reason: 'the project names no image',
  fix: 'Set sandbox.image in baton.toml, or add a .devcontainer/devcontainer.json with an image.',
};
