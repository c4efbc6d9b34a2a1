import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenMode, SandboxRequest } from '../mode.ts';
import type { OpenNetwork } from '../network/network-request.ts';
import { containerArgv } from './container-argv.ts';
import { containerName, endContainer, freezeContainer, guardContainer } from './end-container.ts';
import { readMountPoints, readOwnLimits } from './machine-facts.ts';
import { writeSeccompProfile } from './seccomp-profile.ts';

/** A container of podman or docker. It outlives the engine's client, so a guard ends it if the caller dies. */
export function openContainer(
  { spec, id, folder, stateDir, env: ownEnv }: SandboxRequest,
  { unsharesNet, resolvConf, namespaces }: OpenNetwork,
): OpenMode {
  const { container } = spec;
  if (container === null) throw new Error('the sandbox has no container');
  const { engine } = container;
  const name = containerName(id);
  const emptyFile = join(folder, 'empty');
  const resolvConfFile = resolvConf === null ? null : join(folder, 'resolv.conf');
  writeFileSync(emptyFile, '', { mode: 0o644 });
  if (resolvConfFile !== null) writeFileSync(resolvConfFile, resolvConf ?? '', { mode: 0o644 });
  let release = (): void => {};
  let isEnded = false;
  return {
    limits: engine.limits,
    notes: [],
    wrap: ({ argv, cwd, env, isTerminal }) => {
      const { uid, gid } = statSync(cwd);
      const { argv: words, env: whole } = containerArgv({
        spec,
        container,
        argv,
        cwd,
        env,
        ownEnv,
        isTerminal,
        name,
        folder,
        stateDir,
        owner: { uid, gid },
        network: namespaces !== null ? { path: namespaces.net } : unsharesNet ? 'none' : 'host',
        resolvConfFile,
        seccompFile: writeSeccompProfile(engine, folder, spec),
        emptyFile,
        mountPoints: readMountPoints(),
        ulimits: readOwnLimits(),
      });
      return { ok: true, argv: words, env: whole };
    },
    started: (pid) => {
      release = guardContainer(engine, name, pid);
    },
    freeze: async (isFrozen) => freezeContainer(engine, name, isFrozen),
    // Ends the container once; nothing can be started in it afterwards, and the engine is slow.
    end: async () => (isEnded ||= (await endContainer(engine, name)) === undefined),
    close: async () => release(),
  };
}
