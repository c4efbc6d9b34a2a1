import { runWait, type WaitedRun } from '../../../api/operations/run-wait.ts';
import { type Refusal, refusal } from '../../../state/outcome.ts';
import { type AgentRun, type AgentStatus, agentStatus } from '../../../state/runs/agent-run.ts';
import type { Decision } from '../../../state/runs/decision.ts';
import type { PipelineRun } from '../../../state/runs/pipeline-run.ts';
import { findPipelineDecision, overallPipelineStatus } from '../../../state/runs/steer-pipeline.ts';
import type { State } from '../../../state/state.ts';
import { refuseUnknownTask } from '../../../state/tasks/create-task.ts';
import type { Task } from '../../../state/tasks/task.ts';
import { taskOutlook } from '../../../state/timeline/task-outlook.ts';
import { handlerFor } from '../call.ts';
import { findRunByPrefix, waitForRun } from '../runs.ts';

/** Reads all runs at once, so that the answer is true at one moment, whatever changed during the wait. */
export const runWaitHandler = handlerFor(runWait, async (call) => {
  const { ids, any = false, wait_ms = 0 } = call.input;
  // A session may wait for tasks. Only operators may see pipelines and agents.
  const kind = call.caller.kind === 'operator' ? call.input.kind : 'task';
  return waitForRun(call, wait_ms, (state) => {
    const found = ids.map((id) => findWaited(state, id, kind));
    const refused = found.find((each) => !each.ok);
    if (refused?.ok === false) return refused;
    const waits = found.flatMap((each) => (each.ok ? [each.run] : []));
    const isSettled = any ? waits.some(isOver) : waits.every(isOver);
    return { ok: true, view: { settled: isSettled, waits }, isSettled };
  });
});

type Found = { readonly ok: true; readonly run: WaitedRun } | { readonly ok: false; readonly refusal: Refusal };

/** Finds a task by its exact id, and a pipeline or agent by an id prefix. */
function findWaited(state: State, id: string, kind: WaitedRun['kind'] | undefined): Found {
  const task = kind === undefined || kind === 'task' ? state.tasks.get(id) : undefined;
  if (task !== undefined) return { ok: true, run: waitedTask(state, task) };
  if (kind === 'task') return refuseUnknownTask(id);
  const pipeline = kind === 'agent' ? undefined : findRunByPrefix(state.pipelines, id, 'pipeline');
  if (pipeline?.ok === true) return { ok: true, run: waitedPipeline(state, pipeline.run) };
  if (pipeline !== undefined && (kind === 'pipeline' || pipeline.refusal.code === 'ambiguous')) return pipeline;
  const agent = findRunByPrefix(state.agents, id, 'agent');
  if (agent.ok) return { ok: true, run: waitedAgent(state, agent.run) };
  if (kind === 'agent' || agent.refusal.code === 'ambiguous') return agent;
  return refusal('no-such-run', `there is no task, pipeline or agent ${id}`, 'See what runs: baton status');
}

function waitedTask(state: State, task: Task): WaitedRun {
  const { state: how, reason, decisionIds } = taskOutlook(state, task);
  return { kind: 'task', id: task.id, name: task.title, state: how, at: task.phase, reason, decision_ids: decisionIds };
}

function waitedPipeline(state: State, run: PipelineRun): WaitedRun {
  const status = overallPipelineStatus(state, run);
  const decision = findPipelineDecision(state, run);
  return {
    kind: 'pipeline',
    id: run.id,
    name: run.name,
    ...stateOf(status === 'running' ? 'going' : status, decision, run.reason ?? run.step?.reason ?? null),
    at: run.step?.name ?? null,
  };
}

function waitedAgent(state: State, run: AgentRun): WaitedRun {
  return {
    kind: 'agent',
    id: run.id,
    name: run.plan.name,
    ...stateOf(AGENT_STATES[agentStatus(run)], state.decisions.get(run.parked ?? ''), run.reason),
    at: run.owner?.step ?? null,
  };
}

const AGENT_STATES = {
  starting: 'going',
  running: 'going',
  attached: 'going',
  leaving: 'going',
  escalated: 'waiting',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<AgentStatus, WaitedRun['state']>;

/** A run whose decision is answered continues by itself, so it does not need a person. */
function stateOf(
  state: WaitedRun['state'],
  decision: Decision | undefined,
  reason: string | null,
): Pick<WaitedRun, 'state' | 'reason' | 'decision_ids'> {
  if (state !== 'waiting') return { state, reason, decision_ids: [] };
  const decision_ids = decision === undefined ? [] : [decision.id];
  return decision?.answer === undefined
    ? { state, reason: decision?.title ?? reason, decision_ids }
    : { state: 'going', reason: 'an answer takes effect soon', decision_ids };
}

function isOver({ state }: WaitedRun): boolean {
  return state !== 'going';
}
