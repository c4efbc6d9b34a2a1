import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readFileIfPresent } from '../../api/if-there.ts';
import { commandFiles } from '../../supervisor/contract.ts';
import { preventStart } from './claim-start.ts';
import { sendControl } from '../agents/control.ts';
import { ownerFile } from './owner-file.ts';

import { commandMark, endLostRun } from './settle-lost.ts';
import { inspectSupervised } from './supervised.ts';
import { COMMAND_START } from './supervise-command.ts';
import type { EffectContext } from '../context.ts';

/** Stops a command that nobody waits for any more. One that has ended is left alone. */
export async function killCommand(commandId: string, reason: string, world: EffectContext): Promise<void> {
  const files = commandFiles(world.stateDir, commandId);
  if (preventStart(files, COMMAND_START)) return;
  const found = inspectSupervised(files, COMMAND_START);
  if (found.kind === 'ended') return;
  if (found.kind === 'running') {
    const timeoutMs = world.times.killAfterMs + world.times.controlMs;
    const options = { port: found.running.port, token: world.supervisorToken(commandId), timeoutMs };
    if ((await sendControl({ kind: 'kill', reason }, options)).ok) return;
  }
  await endLostRun({ files, start: COMMAND_START, mark: commandMark(commandId) });
}

/** Commands of this project that a daemon was told to stop, and ended before it did. */
export async function killUnwantedCommands(
  isWanted: (commandId: string) => boolean,
  world: EffectContext,
): Promise<void> {
  const left = listCommands(world).filter((id) => !isWanted(id));
  await Promise.all(left.map((id) => killCommand(id, 'nobody waits for it any more', world)));
}

function listCommands({ stateDir, projectId }: EffectContext): string[] {
  try {
    return readdirSync(join(stateDir, 'commands')).filter((id) => {
      const files = commandFiles(stateDir, id);
      return (
        readFileIfPresent(ownerFile(files.folder)) === projectId &&
        inspectSupervised(files, COMMAND_START).kind !== 'ended'
      );
    });
  } catch {
    return [];
  }
}
