import { adoptionOf } from '../state/adopt-runbook.ts';
import { adoptionInForce } from '../state/adoption.ts';
import { event, type Event, type EventOf } from '../state/event.ts';
import { returnToWork } from '../state/return-to-work.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { Decision, DecisionAction } from '../state/runs/decision.ts';
import { endAgent } from './end-agent.ts';
import { enterStep } from './enter-step.ts';
import { resolveHeldMerge } from './hold-merge.ts';
import { freeTask } from './hold-task.ts';
import { onBudgetDecision } from './resolve-budget.ts';
import { onFindingDecision } from './resolve-finding.ts';
import { NUDGE } from './run-handler.ts';
import { restart } from './on-silent.ts';
import { because, ownerOf, setGoing } from './set-going.ts';
import { GO_ON, tell } from './tell.ts';
import type { World } from './world.ts';

/** On `DecisionResolved`: what the person chose happens. */
export function onDecision(
  world: World,
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
    if (task.flow.heldMerge !== null) return resolveHeldMerge(world, task, decision, action);
    return freeTask(task, action, message);
  }
  if (agent === undefined) return action === 'retry' ? unblock(world, decision?.taskId ?? '') : [];
  if (agent.outcome !== null || agent.parked !== decision_id) return [];
  switch (action) {
    case 'nudge':
      return [...setGoing(world, agent), tell(world, agent, message ?? NUDGE)];
    case 'resume':
      if (decision?.untilHeard === true) return [...setGoing(world, agent), restart(agent, message)];
      return [...setGoing(world, agent), tell(world, agent, message ?? GO_ON)];
    case 'approve':
      return [...setGoing(world, agent), tell(world, agent, message ?? 'Approved. Go on.')];
    case 'deny':
      return [...setGoing(world, agent), tell(world, agent, message ?? 'Denied. Find another way, or escalate.')];
    case 'dismiss':
      // Nobody would ever wake a process that has gone.
      return [...setGoing(world, agent), ...(agent.process === 'gone' ? [tell(world, agent, GO_ON)] : [])];
    case 'done':
    case 'skip':
      return [...setGoing(world, agent), ...endAgent(world, agent, 'done', because(action, message))];
    case 'cancel':
      return [...setGoing(world, agent), ...endAgent(world, agent, 'cancelled', because(action, message))];
    case 'retry':
      return startAnew(world, agent, because(action, message));
  }
}

/** A person agreed to a runbook that loosens the rules: it is in force for whatever begins from now on. */
function adoptByDecision({ state }: World, { adopts, result }: Decision, action: DecisionAction): Event[] {
  if (adopts === null || action !== 'approve' || adoptionInForce(state)?.sha256 === adopts.sha256) return [];
  const by = result?.kind === 'resolved' ? result.by : 'operator';
  const { sha256, commit } = adopts;
  return [adoptionOf(state, { sha256, commit, committed: sha256, by })];
}

/** The same work by a new agent, in a new conversation: what the old one did stays where it is. */
function startAnew(world: World, agent: AgentRun, reason: string): Event[] {
  const run = ownerOf(world, agent);
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

function unblock({ state, rules }: World, taskId: string): Event[] {
  const task = state.tasks.get(taskId);
  if (task === undefined) return [];
  return returnToWork(task, { cause: 'decision', reason: 'unblocked by a decision' }, rules);
}
