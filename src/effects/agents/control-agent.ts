import { hasEnded } from '../../api/process-identity.ts';
import { agentFiles, type Control } from '../../supervisor/contract.ts';
import { sendControl, type ControlResult } from './control.ts';
import { readRunning } from '../processes/supervised.ts';
import type { EffectContext } from '../context.ts';

/** Says something to the supervisor of an agent's newest process. */
export async function sendControlToAgent(
  { agentId, start }: { readonly agentId: string; readonly start: number },
  said: Control,
  { stateDir, supervisorToken }: Pick<EffectContext, 'stateDir' | 'supervisorToken'>,
  timeoutMs: number,
): Promise<ControlResult> {
  const running = readRunning(agentFiles(stateDir, agentId), start);
  // Somebody else may listen by now where a supervisor that has gone did: they must not hear its token.
  if (running === undefined || hasEnded(running.supervisor)) return NO_SUPERVISOR;
  return sendControl(said, { port: running.port, token: supervisorToken(agentId), timeoutMs });
}

const NO_SUPERVISOR: ControlResult = { ok: false, unheard: true, reason: 'it has no process' };
