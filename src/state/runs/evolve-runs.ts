import type { Event, EventOf, RecordedEvent } from '../event.ts';
import { postSpending } from './accounts.ts';
import { evolveBudgets } from './budget.ts';
import type { Decision, DecisionAction, DecisionResult } from './decision.ts';
import { type Effect, effectKey, findEffect } from './effect.ts';
import { createAgent, evolveAgent } from './evolve-agent.ts';
import { evolveEffects } from './evolve-effects.ts';
import { createPipeline, evolvePipeline } from './pipeline-run.ts';
import type { Runs } from './runs.ts';

/** Folds an entry into the maps of `runs`. Returns the effects that the entry settled. */
export function evolveRuns(runs: Runs, recorded: RecordedEvent): readonly Effect[] {
  evolveAgents(runs, recorded);
  evolvePipelines(runs, recorded);
  evolveDecisions(runs, recorded);
  evolveBudgets(runs, recorded);
  const settled = evolveEffects(runs, recorded);
  if (recorded.type === 'WorkersConfigured') {
    for (const name of runs.workers.keys()) runs.workers.delete(name);
    for (const worker of recorded.data.workers) runs.workers.set(worker.name, worker);
  }
  return settled;
}

function evolveAgents(runs: Runs, recorded: RecordedEvent): void {
  const { agents, effects } = runs;
  if (recorded.type === 'AgentRequested') {
    const agent = createAgent(recorded);
    agents.set(agent.id, agent);
    return;
  }
  const agent = agents.get(agentOf(recorded, effects) ?? '');
  if (agent === undefined) return;
  const after = evolveAgent(agent, recorded);
  if (after === agent) return;
  agents.set(agent.id, after);
  postSpending(runs, agent, after, recorded.at);
  if (after.over !== null) keepNewest(agents);
}

function evolvePipelines({ pipelines }: Runs, recorded: RecordedEvent): void {
  const id = pipelineOf(recorded);
  const run = pipelines.get(id ?? '');
  if (run !== undefined) {
    const after = evolvePipeline(run, recorded);
    if (after !== run) pipelines.set(run.id, after);
    if (after.over !== null && run.over === null) keepNewest(pipelines);
  }
  if (recorded.type === 'PipelineStarted') {
    const started = createPipeline(recorded, run);
    pipelines.set(started.id, started);
  }
}

function evolveDecisions({ decisions, pipelines }: Runs, recorded: RecordedEvent): void {
  if (recorded.type === 'DecisionOpened') {
    const opened = openDecision(recorded);
    decisions.set(opened.id, opened);
  }
  if (recorded.type === 'DecisionExtended') {
    const extended = decisions.get(recorded.data.decision_id);
    if (extended?.result === null) decisions.set(extended.id, { ...extended, context: recorded.data.context });
  }
  if (recorded.type === 'DecisionAnswered' || recorded.type === 'DecisionAnswerWithdrawn') {
    const answered = decisions.get(recorded.data.decision_id);
    if (answered?.result === null) decisions.set(answered.id, evolveAnswer(answered, recorded));
  }
  if (recorded.type !== 'DecisionResolved' && recorded.type !== 'DecisionWithdrawn') return;
  const decision = decisions.get(recorded.data.decision_id);
  if (decision === undefined) return;
  const reason = recorded.type === 'DecisionWithdrawn' ? recorded.data.reason : null;
  const settled = dropAnswer(decision, recorded.at, reason);
  decisions.set(decision.id, { ...settled, over: recorded.seq, result: resultOf(recorded) });
  keepNewest(decisions);
  const run = pipelines.get(decision.pipelineId ?? '');
  if (recorded.type !== 'DecisionResolved' || run === undefined) return;
  const { action, message } = recorded.data;
  if (message !== null && LEFT_FOR_NEXT.has(action)) pipelines.set(run.id, { ...run, note: message });
}

function evolveAnswer(
  decision: Decision,
  { type, data, seq, at, actor }: (EventOf<'DecisionAnswered'> | EventOf<'DecisionAnswerWithdrawn'>) & Envelope,
): Decision {
  if (type === 'DecisionAnswerWithdrawn') return dropAnswer(decision, at, data.reason);
  const { option, action, message, hand_to, effective_at: effectiveAt } = data;
  const handTo = hand_to === undefined ? {} : { handTo: hand_to };
  return { ...decision, answer: { option, action, by: actor, at, message, ...handTo, effectiveAt, seq } };
}

/** `reason`: why the answer lapsed; null if it took effect, or if a person withdrew it. */
function dropAnswer({ answer, ...decision }: Decision, at: string, reason: string | null): Decision {
  if (answer === undefined || reason === null) return decision;
  return { ...decision, lapsed: { option: answer.option, by: answer.by, at, reason } };
}

/** The answers that end an agent. The others are sent to it as messages. */
const LEFT_FOR_NEXT: ReadonlySet<DecisionAction> = new Set(['retry', 'done', 'skip']);

function resultOf({ type, data, at, actor }: Settlement & Envelope): DecisionResult {
  if (type === 'DecisionWithdrawn') return { kind: 'withdrawn', at, reason: data.reason };
  const { option, action, message, by = actor } = data;
  return { kind: 'resolved', option, action, by, at, message };
}

type Settlement = EventOf<'DecisionResolved'> | EventOf<'DecisionWithdrawn'>;

/** The agent of an entry. For a gate, it is the agent whose handler waits for the gate. */
function agentOf({ type, data }: Event, effects: Runs['effects']): string | undefined {
  if (type === 'TimerFired' || type === 'TimerSet')
    return 'agent_id' in data.purpose ? data.purpose.agent_id : undefined;
  if (type === 'TimerCancelled') {
    const purpose = findEffect({ effects }, 'TimerSet', effectKey.timer(data.timer_id))?.data.purpose;
    return purpose?.kind === 'reset' ? purpose.agent_id : undefined;
  }
  if (type === 'RunAcknowledged') return data.run_id;
  return 'agent_id' in data ? (data.agent_id ?? undefined) : undefined;
}

/** The pipeline of an entry. For an agent or a command, it is the pipeline of its step. */
function pipelineOf({ type, data }: Event): string | undefined {
  switch (type) {
    case 'PipelineStarted':
      return data.parent?.pipeline_id;
    case 'AgentRequested':
      return data.owner?.pipeline_id;
    case 'CommandRequested':
    case 'CommandFinished':
      return data.subject.kind === 'step' ? data.subject.pipeline_id : undefined;
    case 'RunAcknowledged':
      return data.run_id;
    case 'DecisionOpened':
      return undefined;
    default:
      return 'pipeline_id' in data ? data.pipeline_id : undefined;
  }
}

type Envelope = Pick<RecordedEvent, 'seq' | 'at' | 'actor'>;

function openDecision({ data, at }: EventOf<'DecisionOpened'> & Envelope): Decision {
  const { decision_id: id, source, title, context, options, scope = null, adopts = null, branch = null } = data;
  const given = { id, source, title, context, options, scope, adopts, branch };
  return {
    ...given,
    agentId: data.agent_id,
    pipelineId: data.pipeline_id,
    taskId: data.task_id,
    ...(data.proposals_of === undefined ? {} : { proposalsOf: data.proposals_of }),
    ...(data.check === undefined ? {} : { check: data.check }),
    ...(data.until_heard === true ? { untilHeard: true as const } : {}),
    ...(data.finding === undefined ? {} : { finding: data.finding }),
    openedAt: at,
    result: null,
    over: null,
  };
}

/** How many ended runs and decisions stay in the state; the ledger has all of them. */
export const KEPT_OVER = 1000;

/** Removes the items that ended first. Compares `over`, because rollbacks change the order of a map. */
function keepNewest(map: Map<string, { readonly id: string; readonly over: number | null }>): void {
  if (map.size <= KEPT_OVER) return;
  const over = [...map.values()].filter((each) => each.over !== null);
  if (over.length <= KEPT_OVER) return;
  over.sort((a, b) => (a.over ?? 0) - (b.over ?? 0));
  for (const { id } of over.slice(0, over.length - KEPT_OVER)) map.delete(id);
}
