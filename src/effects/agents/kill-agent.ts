import { agentFiles, type Exit } from '../../supervisor/contract.ts';
import { preventStart } from '../processes/claim-start.ts';
import { sendControlToAgent } from './control-agent.ts';
import { waitForEnd, waitForStart } from '../processes/follow-start.ts';
import { agentMark, endLostRun } from '../processes/settle-lost.ts';
import type { EffectContext } from '../context.ts';

export interface KilledProcess {
  readonly agentId: string;
  readonly start: number;
  readonly reason: string;
}

/**
 * Ends an agent with everything that it has started, and says how it ended; undefined where that was called off. Its supervisor
 * does it, where there is one; a start that no supervisor has taken is taken by nobody from then on.
 */
export async function killAgent(
  { agentId, start, reason }: KilledProcess,
  world: EffectContext,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  const files = agentFiles(world.stateDir, agentId);
  const lost = { files, start, mark: agentMark(agentId) };
  if (preventStart(files, start)) return endLostRun(lost);
  // One that is just being started says soon where it listens.
  await waitForStart({ files, start, spawned: undefined, signal }, world.times.startMs);
  if (signal.aborted) return undefined;
  const timeoutMs = world.times.killAfterMs + world.times.controlMs;
  const answer = await sendControlToAgent({ agentId, start }, { kind: 'kill', reason }, world, timeoutMs);
  if (!answer.ok) return endLostRun(lost);
  const settling = await waitForEnd({ files, start, spawned: undefined, signal });
  if (settling === undefined) return undefined;
  return settling.found.kind === 'ended' ? settling.found.exit : endLostRun(lost);
}
