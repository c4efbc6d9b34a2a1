import { event, type Event, type EventOf, type HowClaimEnded } from '../state/event.ts';
import { type AgentRun, isAttached } from '../state/runs/agent-run.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { agentsOfClaim } from '../state/runs/find-run.ts';
import type { RunOutcome, TaskRef } from '../state/runs/run-event.ts';
import { endClaim, phaseMovedEvent } from '../state/tasks/claim-task.ts';
import { describeMissing, findMissingMessages } from '../state/tasks/writeback.ts';
import { cancelPending, type EngineContext, findWaitingHandler, pendingActions, setTimer } from './context.ts';
import { notifyEnd } from './notify.ts';
import { finishStep } from './steps.ts';

/** The run is over for whoever waited for it: what was under way for it, and what was asked about it, is called off. */
export function endAgent(
  { state }: EngineContext,
  agent: AgentRun,
  outcome: RunOutcome,
  reason: string | null,
): Event[] {
  if (agent.outcome !== null) return [];
  const pending = pendingActions(state, agent.id).filter((each) => findWaitingHandler(each) !== undefined);
  const asked = state.decisions.get(agent.parked ?? '');
  const withdrawn =
    // A budget's question is for others, too.
    asked?.result === null && asked.agentId === agent.id
      ? [event('DecisionWithdrawn', { decision_id: asked.id, reason: `the run has ended: ${outcome}` })]
      : [];
  const why = reason === null ? null : excerptStart(reason);
  return [...cancelPending(pending), ...withdrawn, event('AgentEnded', { agent_id: agent.id, outcome, reason: why })];
}

/** On `AgentEnded`: the process may go, and whoever waited for it goes on. */
export function afterAgent(
  world: EngineContext,
  agent: AgentRun,
  { outcome, reason }: EventOf<'AgentEnded'>['data'],
): Event[] {
  const leaves = requestLeave(world, agent);
  if (agent.owner === null) {
    const claim = endClaimOfRun(world, agent.task, outcome, `agent ${agent.plan.name}`, reason);
    // Of what workers do all day long, people hear where it went wrong.
    const isNews = agent.task === null || outcome === 'failed';
    const told = isNews ? notifyEnd(world, 'Agent', agent.plan.name, outcome, reason) : [];
    return [...leaves, ...told, ...claim];
  }
  const run = world.state.pipelines.get(agent.owner.pipelineId);
  if (run?.step?.agentId !== agent.id) return leaves;
  return [...leaves, ...finishStep(world, run, { outcome, reason, output: outputOf(agent) })];
}

/** What an agent leaves behind for the steps after it: its last word to Baton, or what it printed last. */
function outputOf({ signal, exit }: AgentRun): string | null {
  return signal?.message ?? exit?.output ?? null;
}

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

/**
 * The run that a claim was taken for is over. Without an exit signal the claim ends with it, and the task is blocked: a worker that took it
 * up again at once would only fail again, or do the same work for ever. The reason names what the session did not send.
 */
export function endClaimOfRun(
  { state }: EngineContext,
  ref: TaskRef | null,
  outcome: RunOutcome,
  what: string,
  reason: string | null,
): Event[] {
  const task = ref === null ? undefined : state.tasks.get(ref.task_id);
  if (ref === null || task === undefined || task.claim?.sessionId !== ref.session_id) return [];
  if (agentsOfClaim(state, ref.session_id).length > 0) return [];
  const why = reason === null ? '' : `: ${excerptStart(reason, 1000)}`;
  const how = outcome === 'done' ? `${what} ended without an exit signal` : `${what} ${outcome}${why}`;
  const missing = outcome === 'cancelled' ? '' : describeMissing(findMissingMessages(task, task.claim, false));
  const words = missing === '' ? how : `${how}; ${missing}`;
  const ended = endClaim(task, task.claim, CLAIM_END_BY_OUTCOME[outcome], words);
  return task.phase === 'COMPLETED'
    ? ended
    : [...ended, phaseMovedEvent(task, 'BLOCKED', { cause: 'run-ended', reason: words })];
}

/** A person who cancels a run takes its task away; the others end by themselves. */
const CLAIM_END_BY_OUTCOME = { done: 'released', failed: 'failed', cancelled: 'revoked' } as const satisfies Record<
  RunOutcome,
  HowClaimEnded
>;

/** How a run ends when its claim does, other than by its own end. */
export function outcomeOfClaim(type: ClaimEndType, { reason }: EventOf<ClaimEndType>['data']) {
  const how = OUTCOME_BY_CLAIM_END[type];
  const why = reason === null ? '' : `: ${excerptStart(reason, 1000)}`;
  if (how === 'completed') return { how, outcome: 'done', reason } as const;
  const words = how === 'blocked' || how === 'failed' ? how : `lost (${how})`;
  return { how, outcome: 'failed', reason: `the claim was ${words}${why}` } as const;
}

const OUTCOME_BY_CLAIM_END = {
  ClaimCompleted: 'completed',
  ClaimBlocked: 'blocked',
  ClaimFailed: 'failed',
  ClaimReleased: 'released',
  ClaimExpired: 'expired',
  ClaimRevoked: 'revoked',
} as const satisfies Record<string, HowClaimEnded>;

export type ClaimEndType = keyof typeof OUTCOME_BY_CLAIM_END;
