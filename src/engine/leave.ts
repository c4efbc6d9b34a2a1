import { event, type Event } from '../state/event.ts';
import { isAttached, type AgentRun } from '../state/runs/agent-run.ts';
import { cancelPending, findWaitingHandler, pendingActions, setTimer } from './pending.ts';
import type { EngineContext } from './context.ts';

/** As long as a client needs to write its last words. */
const LEAVE_MS = 60_000;

/**
 * A process whose run is over. One that did its work leaves by itself, since its stop hook now lets it; one that failed or was
 * cancelled is not to do anything more.
 */
export function requestLeave(world: EngineContext, agent: AgentRun): Event[] {
  const { id: agent_id, process, outcome, killed, reason } = agent;
  if (process === 'gone' || killed) return [];
  // Whoever sits in front of it is not thrown out: it leaves when they do.
  if (outcome === 'done' && process === 'running' && isAttached(agent)) return [];
  if (outcome === 'done' && process === 'running')
    return [setTimer(world, world.rules.leaveMs ?? LEAVE_MS, { kind: 'leave', agent_id })];
  return [event('AgentKillRequested', { agent_id, reason: reason ?? `the run has ended: ${outcome ?? ''}` })];
}

/** On the `leave` timer: it had its time. */
export function onLeaveTimer({ state }: EngineContext, agentId: string): Event[] {
  const agent = state.agents.get(agentId);
  if (agent === undefined || agent.process === 'gone' || agent.killed) return [];
  return [event('AgentKillRequested', { agent_id: agentId, reason: 'nobody waits for it, and it did not leave' })];
}

/** The process has gone: nobody needs to make it. */
export function cancelLeaveTimer({ state }: EngineContext, agentId: string): Event[] {
  return cancelPending(pendingActions(state, agentId).filter((each) => findWaitingHandler(each) === undefined));
}
