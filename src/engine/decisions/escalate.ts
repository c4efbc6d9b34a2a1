import { event, type Event } from '../../state/event.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import { type DecisionAction, type DecisionSource, OPTION_LABELS } from '../../state/runs/decision.ts';
import { findSilenceDecision } from '../../state/runs/open-decisions.ts';
import type { Question } from '../../state/runs/resolve-decision.ts';
import { cancelPending, type EngineContext, findWaitingHandler, pendingActions, timersOf } from '../context.ts';
import { mayRecommendApproval } from './judge-prompt.ts';
import { askPeople } from './notify.ts';

interface Escalation extends Partial<Pick<Question, 'options'>> {
  readonly source: DecisionSource;
  /** The reason as the step or the run shows it: `on_stop: escalate`. */
  readonly reason: string;
  readonly message: string;
  /** Additional context for the decision, such as output of the agent or of a gate. */
  readonly details?: string | null;
  /** The decision is withdrawn when the agent reports again. */
  readonly untilHeard?: true;
}

/**
 * Opens one decision and parks the agent until it is answered. While it is open, further reasons are ignored. The
 * agent's scheduled handlers are cancelled, and its step's time limit is paused. A decision about the agent's silence
 * is replaced, because the agent's next report would withdraw it, and this question with it.
 */
export function escalate(world: EngineContext, agent: AgentRun, escalation: Escalation): Event[] {
  const { state, newId } = world;
  const { source, reason, message, details, options = optionsOf(source, agent) } = escalation;
  const silence = findSilenceDecision(state, agent);
  if (silence === undefined && !mayPark(world, agent)) return [];
  const run = state.pipelines.get(agent.owner?.pipelineId ?? '');
  const decision_id = newId();
  const title =
    run === undefined ? `Agent needs attention: ${agent.plan.name}` : `Pipeline needs attention: ${run.name}`;
  const question = {
    source,
    title,
    context: details ? `${message}\n\n${details}` : message,
    message,
    options,
    ...(source === 'prompt' && !mayRecommendApproval(message) ? { recommends: 'deny' as const } : {}),
    agent_id: agent.id,
    pipeline_id: run?.id ?? null,
    task_id: agent.task?.task_id ?? null,
    ...(escalation.untilHeard === true ? { until_heard: true as const } : {}),
  };
  const replaced = { decision_id: silence?.id ?? '', reason: 'the agent became active again and asks for a person' };
  return [
    ...(silence === undefined ? [] : [event('DecisionWithdrawn', replaced)]),
    ...askPeople(world, question, decision_id),
    ...park(world, agent, decision_id, reason),
  ];
}

/**
 * Parks the agent and the step that waits for it until a decision is answered. Cancels the agent's scheduled handlers.
 */
export function parkAgent(world: EngineContext, agent: AgentRun, decision_id: string, reason: string): Event[] {
  return mayPark(world, agent) ? park(world, agent, decision_id, reason) : [];
}

function park({ state }: EngineContext, agent: AgentRun, decision_id: string, reason: string): Event[] {
  const run = state.pipelines.get(agent.owner?.pipelineId ?? '');
  const pending = pendingActions(state, agent.id).filter((each) => findWaitingHandler(each) !== undefined);
  const waits =
    run === undefined || run.step === null
      ? []
      : [
          ...cancelPending(timersOf(state, run.id)),
          event('StepWaiting', { pipeline_id: run.id, step: run.step.name, reason, decision_id }),
        ];
  return [...cancelPending(pending), ...waits, event('AgentParked', { agent_id: agent.id, decision_id, reason })];
}

/** False if the run is over, is already parked, or belongs to a step that no longer waits for it. */
function mayPark({ state }: EngineContext, { id, owner, outcome, parked }: AgentRun): boolean {
  if (outcome !== null || parked !== null) return false;
  if (owner === null) return true;
  const step = state.pipelines.get(owner.pipelineId)?.step;
  return step?.agentId === id && step.status !== 'waiting';
}

/** The options of each source. The first one is recommended. */
const ACTIONS: Readonly<Partial<Record<DecisionSource, readonly DecisionAction[]>>> = {
  stop: ['nudge', 'done', 'retry', 'cancel'],
  idle: ['nudge', 'done', 'retry', 'cancel'],
  dead: ['resume', 'retry', 'skip', 'cancel'],
  error: ['resume', 'retry', 'cancel'],
  gate: ['retry', 'done', 'cancel'],
  prompt: ['approve', 'deny', 'cancel'],
};

function optionsOf(source: DecisionSource, { owner, task }: AgentRun): Question['options'] {
  const answers = ACTIONS[source] ?? ['dismiss'];
  // Inside a pipeline, the pipeline decides which agent runs its step. A prompt is about one call.
  const isPassable = source !== 'prompt' && owner === null && task !== null;
  const all: readonly DecisionAction[] = isPassable ? [...answers, 'hand_over', 'take_over'] : answers;
  return all.map((action) => ({ label: OPTION_LABELS[action], action }));
}
