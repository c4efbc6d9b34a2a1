import type { Event, EventOf } from '../state/event.ts';
import { isCancelled } from '../state/tasks/task.ts';
import { agentsOfClaim } from '../state/runs/find-run.ts';
import { endAgent } from './end-agent.ts';
import { outcomeOfClaim, type ClaimEndType } from './follow-claim.ts';
import { stopPipeline } from './stop-step.ts';
import type { EngineContext } from './context.ts';

/**
 * On the end of a claim. Whoever lost it works no longer: its agents are stopped, and the run has failed. Who completed the task, or
 * said that it is stuck, has with that come to the end of its own work; a pipeline then goes on to its next step.
 */
export function onClaimEnd(world: EngineContext, type: ClaimEndType, data: EventOf<ClaimEndType>['data']): Event[] {
  const { state } = world;
  if (state.agents.size === 0 && state.pipelines.size === 0) return [];
  // The task was cancelled with it: `on-cancelled` ends its runs as cancelled, and no failure is reported.
  const task = state.tasks.get(data.task_id);
  if (type === 'ClaimRevoked' && task !== undefined && isCancelled(task)) return [];
  const { how, outcome, reason } = outcomeOfClaim(type, data);
  const run = state.pipelines.get(data.session_id);
  const isLost = how === 'expired' || how === 'revoked' || how === 'released';
  if (isLost && run !== undefined) return stopPipeline(world, run, 'failed', reason);
  return agentsOfClaim(state, data.session_id).flatMap((agent) => endAgent(world, agent, outcome, reason));
}
