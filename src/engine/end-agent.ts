import { event, type Event, type EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import { excerptStart } from '../state/runs/excerpt.ts';
import type { RunOutcome } from '../state/runs/run-event.ts';
import { finishStep } from './finish-step.ts';
import { endClaimOfRun } from './follow-claim.ts';
import { requestLeave } from './leave.ts';
import { notifyEnd } from './notify.ts';
import { cancelPending, findWaitingHandler, pendingActions } from './pending.ts';
import type { EngineContext } from './context.ts';

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
