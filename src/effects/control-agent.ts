import { hasEnded } from '../api/process-identity.ts';
import { agentFiles, type Control } from '../supervisor/contract.ts';
import { control, type Controlled } from './control.ts';
import { readRunning } from './supervised.ts';
import type { World } from './world.ts';

/** Says something to the supervisor of an agent's newest process. */
export async function controlAgent(
  { agentId, start }: { readonly agentId: string; readonly start: number },
  said: Control,
  { stateDir, supervisorToken }: Pick<World, 'stateDir' | 'supervisorToken'>,
  timeoutMs: number,
): Promise<Controlled> {
  const running = readRunning(agentFiles(stateDir, agentId), start);
  // Somebody else may listen by now where a supervisor that has gone did: they must not hear its token.
  if (running === undefined || hasEnded(running.supervisor)) return NOBODY;
  return control(said, { port: running.port, token: supervisorToken(agentId), timeoutMs });
}

const NOBODY: Controlled = { ok: false, unheard: true, reason: 'it has no process' };
