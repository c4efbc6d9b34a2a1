import { agentFiles, type Exit } from '../supervisor/contract.ts';
import { claimStart } from './claim-start.ts';
import { controlAgent } from './control-agent.ts';
import { untilEnded, untilStarted } from './follow-start.ts';
import { markOfAgent, settleLost } from './settle-lost.ts';
import type { World } from './world.ts';

export interface Killed {
  readonly agentId: string;
  readonly start: number;
  readonly reason: string;
}

/**
 * Ends an agent with everything that it has started, and says how it ended; undefined where that was called off. Its supervisor
 * does it, where there is one; a start that no supervisor has taken is taken by nobody from then on.
 */
export async function killAgent(
  { agentId, start, reason }: Killed,
  world: World,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  const files = agentFiles(world.stateDir, agentId);
  const lost = { files, start, mark: markOfAgent(agentId) };
  if (claimStart(files, start)) return settleLost(lost);
  // One that is just being started says soon where it listens.
  await untilStarted({ files, start, spawned: undefined, signal }, world.times.startMs);
  if (signal.aborted) return undefined;
  const timeoutMs = world.times.killAfterMs + world.times.controlMs;
  const answer = await controlAgent({ agentId, start }, { kind: 'kill', reason }, world, timeoutMs);
  if (!answer.ok) return settleLost(lost);
  const settling = await untilEnded({ files, start, spawned: undefined, signal });
  if (settling === undefined) return undefined;
  return settling.found.kind === 'ended' ? settling.found.exit : settleLost(lost);
}
