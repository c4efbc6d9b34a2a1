import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../api/if-there.ts';
import { commandFiles } from '../supervisor/contract.ts';
import { claimStart } from './claim-start.ts';
import { control } from './control.ts';
import { ownerFile } from './owner-file.ts';

import { markOfCommand, settleLost } from './settle-lost.ts';
import { findSupervised } from './supervised.ts';
import { ONLY_START } from './supervise-command.ts';
import type { World } from './world.ts';

/** Stops a command that nobody waits for any more. One that has ended is left alone. */
export async function killCommand(commandId: string, reason: string, world: World): Promise<void> {
  const files = commandFiles(world.stateDir, commandId);
  if (claimStart(files, ONLY_START)) return;
  const found = findSupervised(files, ONLY_START);
  if (found.kind === 'ended') return;
  if (found.kind === 'running') {
    const timeoutMs = world.times.killAfterMs + world.times.controlMs;
    const options = { port: found.running.port, token: world.supervisorToken(commandId), timeoutMs };
    if ((await control({ kind: 'kill', reason }, options)).ok) return;
  }
  await settleLost({ files, start: ONLY_START, mark: markOfCommand(commandId) });
}

/** Commands of this project that a daemon was told to stop, and ended before it did. */
export async function sweepCommands(isWanted: (commandId: string) => boolean, world: World): Promise<void> {
  const left = listCommands(world).filter((id) => !isWanted(id));
  await Promise.all(left.map((id) => killCommand(id, 'nobody waits for it any more', world)));
}

function listCommands({ stateDir, projectId }: World): string[] {
  try {
    return readdirSync(join(stateDir, 'commands')).filter((id) => {
      const files = commandFiles(stateDir, id);
      return readIfThere(ownerFile(files.folder)) === projectId && findSupervised(files, ONLY_START).kind !== 'ended';
    });
  } catch {
    return [];
  }
}
