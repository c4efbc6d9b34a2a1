import type { RecordedEvent } from '../state/event.ts';
import { findMain } from '../state/main/main-branch.ts';
import { isAttached } from '../state/runs/agent-run.ts';
import { isStartEffect, processNumber } from '../state/runs/effect.ts';
import type { Rules } from '../state/rules.ts';
import type { State } from '../state/state.ts';
import { findStuckTasks } from '../state/tasks/worker-fit.ts';
import { isAboutOverspent } from '../state/runs/open-decisions.ts';
import { findSpan } from '../state/timeline/find-span.ts';

/** Describes a fault that no state may have; undefined if there is none. */
export function findFault(state: State): string | undefined {
  return (
    findInCancelled(state) ??
    findInAgents(state) ??
    findInPipelines(state) ??
    findInDecisions(state) ??
    findInMain(state) ??
    findInTimelines(state)
  );
}

/** Checks that something moves every open task. Only tests have rules with a gate and without checks. */
export function findUnmoved(state: State, rules: Rules): string | undefined {
  if (rules.ciGate && (rules.checks ?? []).length === 0) return undefined;
  const [task] = findStuckTasks(state, rules);
  return task === undefined ? undefined : `nothing moves ${task.id}`;
}

/** Checks that the fold has seen each change of a task: its newest span must equal the current state. */
function findInTimelines({ tasks, timelines, decisions, agents }: State): string | undefined {
  for (const task of tasks.values()) {
    const timeline = timelines.get(task.id);
    const last = timeline?.spans.at(-1);
    // Some tests put tasks into the state without entries.
    if (timeline === undefined || last === undefined) continue;
    const { from: _, outcome: _outcome, phase: _phase, round: _round, ...shown } = last;
    const { phase: _now, round: _rounds, ...now } = findSpan(tasks, task, timeline);
    if (JSON.stringify(now) !== JSON.stringify(shown))
      return `${task.id}: its timeline shows ${JSON.stringify(shown)}, not ${JSON.stringify(now)}`;
    const asked = [...decisions.values()].filter(({ taskId, result }) => taskId === task.id && result === null);
    if (asked.map(({ id }) => id).join() !== (timeline.asked ?? []).join())
      return `${task.id}: its timeline has other open decisions`;
    const parked = [...agents.values()].filter(
      ({ task: of, outcome, parked: by }) =>
        of?.session_id === (task.claim?.sessionId ?? '') && outcome === null && by !== null,
    );
    if (parked.map(({ id }) => id).join() !== (timeline.parked ?? []).join())
      return `${task.id}: other agents wait for a person than its timeline has`;
  }
  return undefined;
}

/** Checks that a cancelled task leaves nothing open. */
function findInCancelled({ tasks, agents, pipelines, decisions, effects }: State): string | undefined {
  const isOf = (id: string | null | undefined): boolean => tasks.get(id ?? '')?.blocked?.isCancelled === true;
  for (const { id, claim, flow } of tasks.values())
    if (isOf(id) && (claim !== null || flow.held !== null || flow.merge !== null))
      return `${id}: cancelled, and not free`;
  for (const run of [...agents.values(), ...pipelines.values()])
    if (run.outcome === null && isOf(run.task?.task_id)) return `${run.id}: a run of a cancelled task`;
  for (const { id, result, taskId } of decisions.values())
    if (result === null && isOf(taskId)) return `${id}: an open decision about a cancelled task`;
  for (const effect of effects.values()) {
    if (effect.type === 'TimerSet' && 'task_id' in effect.data.purpose && isOf(effect.data.purpose.task_id))
      return `${effect.key}: a timer of a cancelled task`;
    if ((effect.type === 'ChecksRequested' || effect.type === 'PullRequestPublished') && isOf(effect.data.task_id))
      return `${effect.key}: checks of a cancelled task`;
  }
  return undefined;
}

function findInMain(state: State): string | undefined {
  const open = [...state.decisions.values()].filter(({ branch, result }) => branch !== null && result === null);
  if (open.length > 1) return 'two open decisions about the main branch';
  const main = findMain(state);
  if ((main?.decisionId ?? null) !== (open[0]?.id ?? null)) return 'the main branch names another decision';
  return main?.decisionId && main.trusted === null
    ? 'a decision about a main branch on which all is accepted'
    : undefined;
}

function findInAgents({ agents, effects }: State): string | undefined {
  const starts = new Map<string, number>();
  for (const effect of effects.values()) {
    if (isStartEffect(effect)) {
      const agent = agents.get(effect.data.agent_id);
      if (agent?.process !== 'wanted' || agent.start !== processNumber(effect))
        return `${effect.key}: nobody wants that process`;
      if (agent.outcome !== null) return `${effect.key}: its run is over`;
      starts.set(effect.data.agent_id, (starts.get(effect.data.agent_id) ?? 0) + 1);
    }
    if (effect.type === 'AgentKillRequested' && agents.get(effect.data.agent_id)?.process === 'gone')
      return `${effect.key}: gone already`;
    if (effect.type === 'MessageRequested' && agents.get(effect.data.agent_id)?.outcome !== null)
      return `${effect.key}: to nobody`;
    if (effect.type === 'CommandRequested' && effect.data.subject.kind === 'gate') {
      const agent = agents.get(effect.data.subject.agent_id);
      if (agent?.outcome !== null || agent.parked !== null) return `${effect.key}: a gate that nobody waits for`;
    }
    if (
      effect.type === 'TimerSet' &&
      (effect.data.purpose.kind === 'handler' || effect.data.purpose.kind === 'reset')
    ) {
      const agent = agents.get(effect.data.purpose.agent_id);
      if (agent?.outcome !== null || agent.parked !== null) return `${effect.key}: a timer that nobody waits for`;
    }
  }
  for (const [id, count] of starts) if (count > 1) return `agent ${id}: ${count} processes wanted`;
  for (const agent of agents.values()) {
    const { id, process, outcome, killed, parked, start } = agent;
    if (process === 'wanted' && !killed && !effects.has(`start:${id}:${start}`)) return `agent ${id}: nobody starts it`;
    const isLeft =
      outcome !== null && process !== 'gone' && !killed && !isAttached(agent) && !hasTimer(effects, 'leave', id);
    if (isLeft) return `agent ${id}: nobody sees to it that it leaves`;
    const waits = outcome === null && process === 'gone' && parked === null;
    if (waits && !hasWork(effects, id)) return `agent ${id}: gone, and nothing will ever happen`;
  }
  return undefined;
}

function hasTimer(effects: State['effects'], kind: string, agentId: string): boolean {
  return [...effects.values()].some(
    (effect) =>
      effect.type === 'TimerSet' &&
      effect.data.purpose.kind === kind &&
      'agent_id' in effect.data.purpose &&
      effect.data.purpose.agent_id === agentId,
  );
}

function hasWork(effects: State['effects'], agentId: string): boolean {
  return (
    hasTimer(effects, 'handler', agentId) ||
    hasTimer(effects, 'reset', agentId) ||
    [...effects.values()].some(
      (effect) =>
        effect.type === 'CommandRequested' &&
        effect.data.subject.kind === 'gate' &&
        effect.data.subject.agent_id === agentId,
    )
  );
}

function findInPipelines(state: State): string | undefined {
  const { pipelines, agents, decisions, effects } = state;
  for (const effect of effects.values()) {
    const ref = pipelineOf(effect);
    const run = ref === undefined ? undefined : pipelines.get(ref);
    if (ref !== undefined && run?.outcome !== null) return `${effect.key}: its pipeline is over`;
  }
  for (const agent of agents.values()) {
    const run = agent.owner === null ? undefined : pipelines.get(agent.owner.pipelineId);
    if (agent.owner === null || agent.outcome !== null) continue;
    if (run?.step?.agentId !== agent.id) return `agent ${agent.id}: its step does not wait for it`;
  }
  for (const { id, step, outcome, parent } of pipelines.values()) {
    if (outcome !== null) {
      if (step !== null) return `pipeline ${id}: over, and in step ${step.name}`;
      continue;
    }
    if (parent !== null && pipelines.get(parent.pipelineId)?.step?.childId !== id)
      return `pipeline ${id}: nobody waits`;
    if (step === null && ![...effects.values()].some((effect) => pipelineOf(effect) === id))
      return `pipeline ${id}: in no step, and nothing will ever happen`;
    if (step?.status !== 'waiting') {
      const agent = agents.get(step?.agentId ?? '');
      if (agent !== undefined && (agent.outcome !== null || agent.parked !== null))
        return `pipeline ${id}: runs step ${step?.name} with an agent that does not`;
      const child = pipelines.get(step?.childId ?? '');
      if (child !== undefined && child.outcome !== null) return `pipeline ${id}: waits for a pipeline that is over`;
      continue;
    }
    const asked = decisions.get(step.decisionId ?? '');
    const open = [...decisions.values()]
      .filter((each) => each.pipelineId === id && each.result === null)
      .filter((each) => !isAboutOverspent(state, each));
    // A decision about a budget may concern other runs too.
    const isBudget =
      asked?.source === 'budget' && asked.result === null && open.every((each) => each.source === 'budget');
    if (!isBudget && (open.length !== 1 || open[0]?.id !== step.decisionId))
      return `pipeline ${id}: ${open.length} open decisions`;
    if (agents.get(step.agentId ?? '')?.parked !== step.decisionId) return `pipeline ${id}: waits, its agent does not`;
  }
  return undefined;
}

function pipelineOf(effect: State['effects'] extends Map<string, infer E> ? E : never): string | undefined {
  if (effect.type === 'CommandRequested' && effect.data.subject.kind === 'step') return effect.data.subject.pipeline_id;
  if (effect.type === 'WorkspaceRequested') return effect.data.pipeline_id;
  return effect.type === 'TimerSet' && 'pipeline_id' in effect.data.purpose
    ? effect.data.purpose.pipeline_id
    : undefined;
}

function findInDecisions(state: State): string | undefined {
  const { decisions, agents, effects } = state;
  for (const decision of decisions.values()) {
    const { id, result, agentId, answer } = decision;
    if ((answer !== undefined) !== effects.has(`answer:${id}`)) return `decision ${id}: its answer never takes effect`;
    if (answer !== undefined && result !== null) return `decision ${id}: settled, and an answer is pending`;
    if (result !== null || agentId === null || isAboutOverspent(state, decision)) continue;
    const agent = agents.get(agentId);
    if (agent?.parked !== id || agent.outcome !== null) return `decision ${id}: nobody waits for it`;
  }
  return undefined;
}

/** Checks the entries alone, without the fold. Each entry is read once, in order. */
export function ledgerReader(): (entries: readonly RecordedEvent[]) => string | undefined {
  const requested = new Set<string>();
  const settled = new Set<string>();
  const asked = new Set<string>();
  const read = ({ seq, type, data }: RecordedEvent): string | undefined => {
    const wants = requestOf({ type, data });
    if (wants !== undefined && requested.has(wants)) return `${seq}: ${wants} is requested twice`;
    if (wants !== undefined) requested.add(wants);
    const ends = settlementOf({ type, data });
    if (ends !== undefined && settled.has(ends)) return `${seq}: ${ends} is settled twice`;
    if (ends !== undefined && !requested.has(ends)) return `${seq}: ${ends} was never requested`;
    if (ends !== undefined) settled.add(ends);
    // People are notified again if one of their answers lapses.
    if (type === 'DecisionAnswerWithdrawn' && data.reason !== null) asked.delete(data.decision_id);
    if (type !== 'NotificationRequested' || data.kind !== 'attention') return undefined;
    if (data.decision_id === null || asked.has(data.decision_id)) return `${seq}: a second call for the same decision`;
    asked.add(data.decision_id);
    return undefined;
  };
  return (entries) => entries.map(read).find((fault) => fault !== undefined);
}

type Bare = Pick<RecordedEvent, 'type' | 'data'>;

function requestOf(entry: Bare): string | undefined {
  const { type, data } = entry as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
  switch (type) {
    case 'AgentRequested':
      return `end of ${data.agent_id}`;
    case 'CommandRequested':
      return `command ${data.command_id}`;
    case 'TimerSet':
      return `timer ${data.timer_id}`;
    case 'MessageRequested':
      return `message ${data.message_id}`;
    case 'NotificationRequested':
      return `notification ${data.notification_id}`;
    case 'DecisionOpened':
      return `decision ${data.decision_id}`;
    case 'PipelineStarted':
      return `pipeline ${data.pipeline_id}`;
    case 'StepStarted':
      return `step ${data.pipeline_id} ${data.step} ${data.visit}`;
    default:
      return undefined;
  }
}

function settlementOf(entry: Bare): string | undefined {
  const { type, data } = entry as RecordedEvent; // oxlint-disable-line typescript/no-unsafe-type-assertion
  switch (type) {
    case 'AgentEnded':
      return `end of ${data.agent_id}`;
    case 'CommandFinished':
    case 'CommandCancelled':
      return `command ${data.command_id}`;
    case 'TimerFired':
    case 'TimerCancelled':
      return `timer ${data.timer_id}`;
    case 'MessageDelivered':
      return `message ${data.message_id}`;
    case 'NotificationSent':
      return `notification ${data.notification_id}`;
    case 'DecisionResolved':
    case 'DecisionWithdrawn':
      return `decision ${data.decision_id}`;
    case 'PipelineFinished':
      return `pipeline ${data.pipeline_id}`;
    default:
      return undefined;
  }
}
