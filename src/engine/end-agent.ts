import { type ClaimEndType, event, type Event, type EventOf, HOW_CLAIM_ENDED } from '../state/event.ts';
import { type AgentRun, isAttached } from '../state/runs/agent-run.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import { agentsOfClaim } from '../state/runs/find-run.ts';
import type { RunOutcome, TaskRef } from '../state/runs/run-event.ts';
import { endClaim, phaseMovedEvent } from '../state/tasks/claim-task.ts';
import { describeMissing, findMissingMessages } from '../state/tasks/writeback.ts';
import { cancelPending, type EngineContext, findWaitingHandler, pendingActions, setTimer } from './context.ts';
import { notifyEnd } from './decisions/notify.ts';
import { finishStep } from './steps.ts';

/** Ends the run of an agent, cancels its scheduled handlers and withdraws its open decisions. */
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
    // A decision about a budget may concern other runs too.
    asked?.result === null && asked.agentId === agent.id
      ? [event('DecisionWithdrawn', { decision_id: asked.id, reason: `the run has ended: ${outcome}` })]
      : [];
  const why = reason === null ? null : excerptStart(reason);
  return [...cancelPending(pending), ...withdrawn, event('AgentEnded', { agent_id: agent.id, outcome, reason: why })];
}

/** On `AgentEnded`: the process may exit, and the step or claim that waited for the run continues. */
export function afterAgent(
  world: EngineContext,
  agent: AgentRun,
  { outcome, reason }: EventOf<'AgentEnded'>['data'],
): Event[] {
  const leaves = requestLeave(world, agent);
  if (agent.owner === null) {
    const claim = endClaimOfRun(world, agent.task, outcome, `agent ${agent.plan.name}`, reason);
    // People are notified of a worker's run only if it failed.
    const isNews = agent.task === null || outcome === 'failed';
    const told = isNews ? notifyEnd(world, 'Agent', agent.plan.name, outcome, reason) : [];
    return [...leaves, ...told, ...claim];
  }
  const run = world.state.pipelines.get(agent.owner.pipelineId);
  if (run?.step?.agentId !== agent.id) return leaves;
  return [...leaves, ...finishStep(world, run, { outcome, reason, output: outputOf(agent) })];
}

/** The output for later steps: the message of the agent's signal, or the last text that it printed. */
function outputOf({ signal, exit }: AgentRun): string | null {
  return signal?.message ?? exit?.output ?? null;
}

/** Long enough for a client to write its last output. */
const LEAVE_MS = 60_000;

/** After a successful run, the process gets time to exit by itself. After a failed or cancelled run it is killed. */
function requestLeave(world: EngineContext, agent: AgentRun): Event[] {
  const { id: agent_id, process, outcome, killed, reason } = agent;
  if (process === 'gone' || killed) return [];
  // While a person is attached, the process ends when the person detaches.
  if (outcome === 'done' && process === 'running' && isAttached(agent)) return [];
  if (outcome === 'done' && process === 'running')
    return [setTimer(world, world.rules.leaveMs ?? LEAVE_MS, { kind: 'leave', agent_id })];
  return [event('AgentKillRequested', { agent_id, reason: reason ?? `the run has ended: ${outcome ?? ''}` })];
}

export function onLeaveTimer({ state }: EngineContext, agentId: string): Event[] {
  const agent = state.agents.get(agentId);
  if (agent === undefined || agent.process === 'gone' || agent.killed) return [];
  return [
    event('AgentKillRequested', { agent_id: agentId, reason: 'the run is over, but the process did not exit in time' }),
  ];
}

export function cancelLeaveTimer({ state }: EngineContext, agentId: string): Event[] {
  return cancelPending(pendingActions(state, agentId).filter((each) => findWaitingHandler(each) === undefined));
}

/**
 * Ends the claim of a finished run. Without an exit signal, the claim ends with the run and the task is blocked: a
 * worker that claimed it again at once would fail again, or repeat the same work forever. The reason names what the
 * session did not send.
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

/** An operator who cancels a run revokes its claim. */
const CLAIM_END_BY_OUTCOME = { done: 'released', failed: 'failed', cancelled: 'revoked' } as const;

/** The outcome of a run whose claim ends first. */
export function outcomeOfClaim(type: ClaimEndType, { reason }: EventOf<ClaimEndType>['data']) {
  const how = HOW_CLAIM_ENDED.get(type) ?? 'revoked';
  const why = reason === null ? '' : `: ${excerptStart(reason, 1000)}`;
  if (how === 'completed') return { how, outcome: 'done', reason } as const;
  const words = how === 'blocked' || how === 'failed' ? how : `lost (${how})`;
  return { how, outcome: 'failed', reason: `the claim was ${words}${why}` } as const;
}
