import { runbookAdoptedEvent } from '../../state/adopt-runbook.ts';
import { event, type Event, type EventOf } from '../../state/event.ts';
import { hostOf } from '../../state/fleet/fleet.ts';
import { findAdoption } from '../../state/rules.ts';
import type { AgentRun } from '../../state/runs/agent-run.ts';
import type { BudgetScope } from '../../state/runs/budget-scope.ts';
import { findHighestUse } from '../../state/runs/budget.ts';
import type { Decision, DecisionAction } from '../../state/runs/decision.ts';
import { isOfDoneRun } from '../../state/runs/open-decisions.ts';
import { abandonClaim, phaseMovedEvent } from '../../state/tasks/claim-task.ts';
import { returnFromBlocked } from '../../state/tasks/operate-task.ts';
import { reinstate } from '../../state/tasks/record-session.ts';
import type { Task } from '../../state/tasks/task.ts';
import { moveRules } from '../../state/tasks/task-rules.ts';
import { familyOf } from '../../state/families/task-family.ts';
import { finishTask } from '../../state/tasks/update-task.ts';
import { restartSilentAgent } from '../agent-events.ts';
import { countRaises, listOpenBudgetDecisions } from '../budgets.ts';
import type { EngineContext } from '../context.ts';
import { endAgent } from '../end-agent.ts';
import { isAboutGithubIssue, retryIssueClosing } from '../github-issue.ts';
import { NUDGE_MESSAGE } from '../handlers.ts';
import { applyVerdictDecision } from './confirm-verdict.ts';
import { applyHoldDecision } from './hold-task.ts';
import { applyProtectedDecision } from '../merge.ts';
import { beginStepsAfterAnswer } from '../overspent.ts';
import {
  CONTINUE_MESSAGE,
  describeReason,
  findOwnerPipeline,
  sendOrResume,
  unparkAgent,
  wakeAgent,
} from '../resume.ts';
import { settleProposals } from './proposals.ts';
import { settleReport } from './check-report.ts';
import { assignTask } from './steer-task.ts';
import { enterStep } from '../steps.ts';

export function onDecision(world: EngineContext, resolved: EventOf<'DecisionResolved'>['data']): Event[] {
  const { decision_id, action, message } = resolved;
  const decision = world.state.decisions.get(decision_id);
  if (decision?.source === 'budget') return onBudgetDecision(world, decision, action, message);
  if (decision?.adopts) return adoptByDecision(world, decision, action);
  if (decision?.check !== undefined) return settleReport(world, decision, decision.check, action);
  if (decision?.proposalsOf !== undefined) return settleProposals(world, decision, decision.proposalsOf, action);
  // The state already has the answer: merges continue, or wait until the branch is back.
  if (decision?.branch) return [];
  if (decision?.source === 'reconcile') return onFindingDecision(world, decision, action, message);
  const agent = world.state.agents.get(decision?.agentId ?? '');
  const task = world.state.tasks.get(decision?.taskId ?? '');
  if (decision !== undefined && task?.flow.held?.decisionId === decision_id) {
    if (task.flow.verdict !== undefined) return applyVerdictDecision(world, task, resolved);
    if (task.flow.heldMerge !== null) return applyProtectedDecision(world, task, resolved);
    return applyHoldDecision(world, task, resolved);
  }
  if (decision !== undefined && isAboutGithubIssue(task, decision)) return retryIssueClosing(world, task, action);
  if (agent === undefined) return task === undefined ? [] : steerBlocked(world, task, resolved);
  if (agent.outcome !== null || agent.parked !== decision_id) return [];
  switch (action) {
    case 'nudge':
      return [...unparkAgent(world, agent), sendOrResume(world, agent, message ?? NUDGE_MESSAGE)];
    case 'resume':
      if (decision?.untilHeard === true) return [...unparkAgent(world, agent), restartSilentAgent(agent, message)];
      return [...unparkAgent(world, agent), sendOrResume(world, agent, message ?? CONTINUE_MESSAGE)];
    case 'approve':
      return [...unparkAgent(world, agent), sendOrResume(world, agent, message ?? 'Approved. Continue.')];
    case 'deny':
      return [
        ...unparkAgent(world, agent),
        sendOrResume(world, agent, message ?? 'Denied. Find another way, or escalate.'),
      ];
    case 'dismiss':
      // An exited process is started again by a message.
      return [
        ...unparkAgent(world, agent),
        ...(agent.process === 'gone' || message !== null
          ? [sendOrResume(world, agent, message ?? CONTINUE_MESSAGE)]
          : []),
      ];
    case 'done':
    case 'skip':
      return [...unparkAgent(world, agent), ...endAgent(world, agent, 'done', describeReason(action, message))];
    case 'cancel':
      return [...unparkAgent(world, agent), ...endAgent(world, agent, 'cancelled', describeReason(action, message))];
    case 'retry':
      return startNewAgent(world, agent, resolved);
    case 'hand_over':
    case 'take_over':
      return passOn(world, agent, resolved);
    case 'send_back':
      return [];
  }
}

/** Passes the agent's work to another agent or to the person. */
function passOn(world: EngineContext, agent: AgentRun, resolved: Resolved): Event[] {
  const task = world.state.tasks.get(agent.task?.task_id ?? '');
  const reason = describeReason(resolved.action, resolved.message);
  const ended = [...unparkAgent(world, agent), ...endAgent(world, agent, 'cancelled', reason)];
  // Without its claim the agent has no work to pass on.
  if (task === undefined || task.claim === null || task.claim.sessionId !== agent.task?.session_id) return ended;
  return [...ended, ...assignTask(world, task, resolved), ...abandonClaim(task, task.claim, 'released', reason)];
}

/**
 * On the answer about a task that no session works on: the task returns from BLOCKED to the same role, to another agent
 * or to a person. Nothing follows if the task is no longer blocked, because the question was about an earlier
 * situation.
 */
function steerBlocked(world: EngineContext, task: Task, resolved: Resolved): Event[] {
  const { action, message } = resolved;
  if (task.phase !== 'BLOCKED') return [];
  const reason = describeReason(action, message);
  switch (action) {
    case 'approve':
      return [...moveRules(world.state, task), ...returnFromBlocked(task, { cause: 'decision', reason }, world.rules)];
    case 'retry':
      return returnFromBlocked(task, { cause: 'decision', reason }, world.rules);
    case 'hand_over':
    case 'take_over':
      return [
        ...assignTask(world, task, resolved),
        ...returnFromBlocked(task, { cause: 'decision', reason }, world.rules),
      ];
    case 'cancel':
      return [phaseMovedEvent(task, 'BLOCKED', { cause: 'cancelled', reason: `cancelled: ${reason}` })];
    default:
      return [];
  }
}

/** A person approved a runbook that loosens the rules. It applies to work that starts from now on. */
function adoptByDecision({ state }: EngineContext, { adopts, result }: Decision, action: DecisionAction): Event[] {
  if (adopts === null || action !== 'approve' || findAdoption(state)?.sha256 === adopts.sha256) return [];
  const by = result?.kind === 'resolved' ? result.by : 'operator';
  const { sha256, commit } = adopts;
  return [runbookAdoptedEvent(state, { sha256, commit, committed: sha256, by })];
}

type Resolved = EventOf<'DecisionResolved'>['data'];

/**
 * Starts a new agent, in a new conversation, on the same work. The old agent's changes stay, and the new one gets the
 * person's note.
 */
function startNewAgent(world: EngineContext, agent: AgentRun, { action, message }: Resolved): Event[] {
  const reason = describeReason(action, message);
  const run = findOwnerPipeline(world, agent);
  const ended = endAgent(world, agent, 'cancelled', reason);
  if (run === undefined || run.step === null) {
    const { plan, vars, task, worker, onStop: on_stop } = agent;
    const host = hostOf(agent, world.state);
    const more = { ...(message === null ? {} : { note: message }), ...(host === undefined ? {} : { host }) };
    return [
      event('AgentRequested', { agent_id: world.newId(), plan, owner: null, vars, task, worker, on_stop, ...more }),
      ...ended,
    ];
  }
  const outcome = 'cancelled';
  const finished = event('StepFinished', { pipeline_id: run.id, step: run.step.name, outcome, reason, output: null });
  return [...ended, finished, ...enterStep(run, run.step.name, false)];
}

/** Reinstates or completes the task, if it is unchanged since the decision was opened. */
function onFindingDecision(
  { state, rules }: EngineContext,
  { taskId }: Decision,
  action: DecisionAction,
  message: string | null,
): Event[] {
  const task = state.tasks.get(taskId ?? '');
  if (task === undefined) return [];
  if (action === 'retry') return task.phase === 'COMPLETED' ? reinstate(task, describeReason(action, message)) : [];
  if (action !== 'done') return [];
  const finished = finishTask(task, null, rules, []);
  return finished.ok ? [...finished.events] : [];
}

/** On a completed task: withdraws decisions about whether it is complete, and the one that held it before. */
export function onCompleted({ state }: EngineContext, taskId: string, held: string | undefined): Event[] {
  const reason = 'the task was completed';
  const withdrawn = [...state.decisions.values()]
    .filter(({ id, source, taskId: about, result }) => {
      return result === null && about === taskId && (source === 'reconcile' || id === held);
    })
    .map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason }));
  return held === undefined ? withdrawn : [...withdrawn, event('TaskFreed', { task_id: taskId })];
}

/** On the answer to a decision about a budget. It applies to every agent that waits for it. */
function onBudgetDecision(
  world: EngineContext,
  decision: Decision,
  action: DecisionAction,
  message: string | null,
): Event[] {
  const { id, scope } = decision;
  const waiting = agentsWaitingFor(world, id);
  if (action !== 'approve') {
    const outcome = action === 'done' ? 'done' : 'cancelled';
    const why = describeReason(action, message);
    const ended = waiting.flatMap((agent) => [...unparkAgent(world, agent), ...endAgent(world, agent, outcome, why)]);
    const followed = isOfDoneRun(world.state, scope) ? beginStepsAfterAnswer(world, decision, action === 'cancel') : [];
    return [
      ...ended,
      ...followed,
      ...(scope?.kind === 'task'
        ? familyOf(world.state, scope.id).flatMap((each) => blockUnclaimed(world, each, why))
        : []),
    ];
  }
  return [...(scope === null ? [] : raiseBudget(world, scope)), ...resumeWaiting(world, waiting, message)];
}

/** When a run or a day is over, its budget is. */
export function withdrawBudget(
  world: EngineContext,
  scope: BudgetScope,
  reason = `the ${scope.kind} is over`,
): Event[] {
  return listOpenBudgetDecisions(world, scope).map(({ id }) => event('DecisionWithdrawn', { decision_id: id, reason }));
}

/**
 * Continues the agents that still wait for a withdrawn decision about a budget: those of another task if the task of the
 * decision was cancelled, and all after the end of a day. Their budgets are checked again, which may ask again.
 */
export function onWithdrawn(world: EngineContext, { decision_id }: EventOf<'DecisionWithdrawn'>['data']): Event[] {
  const isBudget = world.state.decisions.get(decision_id)?.source === 'budget';
  return isBudget ? resumeWaiting(world, agentsWaitingFor(world, decision_id), null) : [];
}

/** Blocks an unclaimed task, so that workers do not claim it again and again while its budget is exhausted. */
function blockUnclaimed({ state }: EngineContext, taskId: string, why: string): Event[] {
  const task = state.tasks.get(taskId);
  if (task === undefined || task.claim !== null || task.phase === 'COMPLETED' || task.phase === 'BLOCKED') return [];
  return [phaseMovedEvent(task, 'BLOCKED', { cause: 'decision', reason: why })];
}

function raiseBudget({ state, rules, at }: EngineContext, scope: BudgetScope): Event[] {
  const use = findHighestUse(state, scope, rules, at);
  return use === undefined ? [] : [event('BudgetRaised', { scope, raises: countRaises(use) })];
}

function resumeWaiting(world: EngineContext, waiting: readonly AgentRun[], message: string | null): Event[] {
  return waiting.flatMap((agent) => [...unparkAgent(world, agent), ...wakeAgent(world, agent, message)]);
}

function agentsWaitingFor({ state }: EngineContext, decisionId: string): readonly AgentRun[] {
  return [...state.agents.values()].filter(({ parked, outcome }) => parked === decisionId && outcome === null);
}
