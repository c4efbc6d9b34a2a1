import { runbookAdoptedEvent } from '../state/adopt-runbook.ts';
import { findAdoption } from '../state/adoption.ts';
import { event, type Event, type EventOf } from '../state/event.ts';
import { returnFromBlocked } from '../state/tasks/return-to-work.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import { endAgent } from './end-agent.ts';
import { enterStep } from './enter-step.ts';
import { applyProtectedDecision } from './merge.ts';
import { applyHoldDecision } from './hold-task.ts';
import { onBudgetDecision } from './resolve-budget.ts';
import { onFindingDecision } from './resolve-finding.ts';
import { NUDGE_MESSAGE } from './handlers.ts';
import { restartSilentAgent } from './on-silent.ts';
import { describeReason, findOwnerPipeline, unparkAgent } from './set-going.ts';
import { CONTINUE_MESSAGE, sendOrResume } from './resume.ts';
import type { EngineContext } from './context.ts';

/** On `DecisionResolved`: what the person chose happens. */
export function onDecision(
  world: EngineContext,
  { decision_id, action, message }: EventOf<'DecisionResolved'>['data'],
): Event[] {
  const decision = world.state.decisions.get(decision_id);
  if (decision?.source === 'budget') return onBudgetDecision(world, decision, action, message);
  if (decision?.adopts) return adoptByDecision(world, decision, action);
  // What was chosen is in the state: merges go on, or wait until the branch is back.
  if (decision?.branch) return [];
  if (decision?.source === 'reconcile') return onFindingDecision(world, decision, action, message);
  const agent = world.state.agents.get(decision?.agentId ?? '');
  const task = world.state.tasks.get(decision?.taskId ?? '');
  if (decision !== undefined && task?.flow.held?.decisionId === decision_id) {
    if (task.flow.heldMerge !== null) return applyProtectedDecision(world, task, decision, action);
    return applyHoldDecision(task, action, message);
  }
  if (agent === undefined) return action === 'retry' ? unblockTask(world, decision?.taskId ?? '') : [];
  if (agent.outcome !== null || agent.parked !== decision_id) return [];
  switch (action) {
    case 'nudge':
      return [...unparkAgent(world, agent), sendOrResume(world, agent, message ?? NUDGE_MESSAGE)];
    case 'resume':
      if (decision?.untilHeard === true) return [...unparkAgent(world, agent), restartSilentAgent(agent, message)];
      return [...unparkAgent(world, agent), sendOrResume(world, agent, message ?? CONTINUE_MESSAGE)];
    case 'approve':
      return [...unparkAgent(world, agent), sendOrResume(world, agent, message ?? 'Approved. Go on.')];
    case 'deny':
      return [
        ...unparkAgent(world, agent),
        sendOrResume(world, agent, message ?? 'Denied. Find another way, or escalate.'),
      ];
    case 'dismiss':
      // Nobody would ever wake a process that has gone.
      return [
        ...unparkAgent(world, agent),
        ...(agent.process === 'gone' ? [sendOrResume(world, agent, CONTINUE_MESSAGE)] : []),
      ];
    case 'done':
    case 'skip':
      return [...unparkAgent(world, agent), ...endAgent(world, agent, 'done', describeReason(action, message))];
    case 'cancel':
      return [...unparkAgent(world, agent), ...endAgent(world, agent, 'cancelled', describeReason(action, message))];
    case 'retry':
      return startNewAgent(world, agent, describeReason(action, message));
  }
}

/** A person agreed to a runbook that loosens the rules: it is in force for whatever begins from now on. */
function adoptByDecision({ state }: EngineContext, { adopts, result }: Decision, action: DecisionAction): Event[] {
  if (adopts === null || action !== 'approve' || findAdoption(state)?.sha256 === adopts.sha256) return [];
  const by = result?.kind === 'resolved' ? result.by : 'operator';
  const { sha256, commit } = adopts;
  return [runbookAdoptedEvent(state, { sha256, commit, committed: sha256, by })];
}

/** The same work by a new agent, in a new conversation: what the old one did stays where it is. */
function startNewAgent(world: EngineContext, agent: AgentRun, reason: string): Event[] {
  const run = findOwnerPipeline(world, agent);
  const ended = endAgent(world, agent, 'cancelled', reason);
  if (run === undefined || run.step === null) {
    const { plan, vars, task, worker, onStop: on_stop } = agent;
    return [
      event('AgentRequested', { agent_id: world.newId(), plan, owner: null, vars, task, worker, on_stop }),
      ...ended,
    ];
  }
  const outcome = 'cancelled';
  const finished = event('StepFinished', { pipeline_id: run.id, step: run.step.name, outcome, reason, output: null });
  return [...ended, finished, ...enterStep(run, run.step.name, false)];
}

function unblockTask({ state, rules }: EngineContext, taskId: string): Event[] {
  const task = state.tasks.get(taskId);
  if (task === undefined) return [];
  return returnFromBlocked(task, { cause: 'decision', reason: 'unblocked by a decision' }, rules);
}
