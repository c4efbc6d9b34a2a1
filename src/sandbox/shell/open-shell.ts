import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HostCount, ShellSpec } from '../../protocol/sandbox.ts';
import type { OpenMode, SandboxRequest } from '../mode.ts';
import type { OpenNetwork } from '../network/network-request.ts';
import { openNetwork } from '../network/open-network.ts';
import { commandEnvironment } from './command-environment.ts';
import type { ShellRequest } from './frames.ts';
import { runCommand, type RunningCommand } from './run-command.ts';
import { ShellServer } from './shell-server.ts';

/** The second sandbox of a session that judges. */
export interface OpenShell {
  /** Ends every command. Called when the client has ended. */
  close(): Promise<readonly HostCount[]>;
}

/**
 * Serves the shell commands of a judging session. Each runs in a PID namespace of its own, which ends with it; all
 * share one network namespace. That is opened for the first command, so that it does not delay the client.
 */
export async function openShell(
  request: SandboxRequest,
  spec: ShellSpec,
  mode: Pick<OpenMode, 'wrapAside'>,
): Promise<OpenShell> {
  let network: ReturnType<typeof openNetwork> | undefined;
  const slots = new Slots();
  const requireNetwork = async (): Promise<OpenNetwork> => {
    const { onRequest: _, ...others } = request;
    network ??= openNetwork({ ...others, spec: spec.network, isShared: true });
    const opened = await network;
    if (!opened.ok) throw new Error(opened.reason);
    return opened.network;
  };
  const start = async ({ argv, cwd, env }: ShellRequest): Promise<RunningCommand> => {
    const opened = await requireNetwork();
    const slot = slots.take();
    const folder = join(request.folder, 'commands', String(slot));
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const own = { ...commandEnvironment(env, spec, request.tokens), ...opened.env };
      const wrapped = mode.wrapAside?.({ argv, cwd, env: own, folder, network: opened });
      if (wrapped?.ok !== true) throw new Error(wrapped?.reason ?? 'this sandbox has no second one');
      const command = await runCommand(wrapped.argv, folder, wrapped.env);
      void command.exited.then(() => slots.free(slot));
      return command;
    } catch (error) {
      slots.free(slot);
      throw error;
    }
  };
  mkdirSync(spec.home, { recursive: true, mode: 0o700 });
  const server = new ShellServer({ folder: spec.folder, start });
  await server.listen();
  return {
    close: async () => {
      await server.close();
      const opened = await network;
      if (opened?.ok !== true) return [];
      await opened.network.close();
      return opened.network.counts();
    },
  };
}

/** Numbers for the folders of commands that run at the same time. */
class Slots {
  readonly #taken = new Set<number>();

  take(): number {
    let slot = 0;
    while (this.#taken.has(slot)) slot++;
    this.#taken.add(slot);
    return slot;
  }

  free(slot: number): void {
    this.#taken.delete(slot);
  }
}
