import type { AgentPlan, Plan, WorkerPlan } from '../protocol/run-plan.ts';
import { type StateJson, toStateJson } from './json-form.ts';
import type { AgentRun } from './runs/agent-run.ts';
import type { Decision } from './runs/decision.ts';
import type { Effect } from './runs/effect.ts';
import { excerptEnd, excerptStart } from './runs/excerpt.ts';
import type { PipelineRun } from './runs/pipeline-run.ts';
import type { Session, State } from './state.ts';
import type { Claim, Task } from './tasks/task.ts';
import type { CheckRun, Flow } from './workflow/flow.ts';
import type { HandoffRef } from './workflow/workflow-event.ts';

/**
 * The state for the page: `restoreState` reads it, and `foldEntry` continues from it. Prompts, missions, messages and
 * long texts are omitted, because the page reads them on demand; fields that `evolve` reads are kept. Answers to keyed
 * commands, statements, lessons and numbers within tasks are only for the daemon.
 */
export function publicProjection(state: State): StateJson {
  return toStateJson({
    ...state,
    tasks: mapValues(state.tasks, publicTask),
    sessions: liveSessions(state),
    agents: mapValues(state.agents, publicAgent),
    pipelines: mapValues(state.pipelines, publicPipeline),
    decisions: mapValues(state.decisions, publicDecision),
    effects: mapValues(state.effects, publicEffect),
    workers: mapValues(state.workers, publicWorker),
    statements: new Map(),
    memory: new Map(),
    settled: new Map(),
    taskNumbers: new Map(),
    counted: new Map(),
  });
}

function mapValues<V>(map: ReadonlyMap<string, V>, change: (value: V) => V): Map<string, V> {
  const changed = new Map<string, V>();
  for (const [key, value] of map) changed.set(key, change(value));
  return changed;
}

/** The sessions of live claims; other sessions are read on demand. */
function liveSessions({ tasks, sessions }: State): Map<string, Session> {
  const live = new Map<string, Session>();
  for (const { claim, lapsed } of tasks.values()) {
    const session = sessions.get((claim ?? lapsed?.claim)?.sessionId ?? '');
    if (session === undefined) continue;
    const { prepared: _, result: __, ...rest } = session;
    live.set(session.id, rest);
  }
  return live;
}

function publicTask(task: Task): Task {
  const { claim, lapsed, flow } = task;
  return {
    ...task,
    description: null,
    records: [],
    latestRecord: null,
    claim: claim && publicClaim(claim),
    lapsed: lapsed && { ...lapsed, claim: publicClaim(lapsed.claim) },
    flow: publicFlow(flow),
  };
}

function publicClaim(claim: Claim): Claim {
  const { handoff, dropped } = claim;
  if (handoff === null && dropped === undefined) return claim;
  const kept = dropped === undefined ? {} : { dropped: withoutXml(dropped) };
  return { ...claim, handoff: handoff && withoutXml(handoff), ...kept };
}

function publicFlow(flow: Flow): Flow {
  const { assigned, handoff, issue, error, checks, merge, heldMerge } = flow;
  return {
    ...flow,
    assigned: assigned !== null && 'agent' in assigned ? { agent: publicAgentPlan(assigned.agent) } : assigned,
    handoff: handoff && withoutXml(handoff),
    issue: issue && withoutXml(issue),
    error: error && withoutXml(error),
    checks: checks && publicChecks(checks),
    merge: merge && { ...merge, handoff: merge.handoff && withoutXml(merge.handoff) },
    heldMerge: heldMerge && { ...heldMerge, handoff: heldMerge.handoff && withoutXml(heldMerge.handoff) },
  };
}

function withoutXml(handoff: HandoffRef): HandoffRef {
  return { ...handoff, xml: '' };
}

function publicChecks(checks: CheckRun): CheckRun {
  if (checks.failures === undefined) return checks;
  const ends = Object.entries(checks.failures).map(([name, { exitCode, output }]) => [
    name,
    { exitCode, output: lastWords(output) },
  ]);
  return { ...checks, failures: Object.fromEntries(ends) };
}

/** The last line, which is enough for a row of a list. */
function lastWords(output: string | null): string | null {
  return output === null ? null : excerptEnd(output, SHOWN_CHARACTERS);
}

const SHOWN_CHARACTERS = 200;

function publicAgent(agent: AgentRun): AgentRun {
  const { note: _, restart, plan, resume, exit, ...rest } = agent;
  return {
    ...rest,
    plan: publicAgentPlan(plan),
    vars: {},
    resume: resume && { ...resume, message: null },
    exit: exit && { ...exit, output: lastWords(exit.output) },
    ...(restart === undefined ? {} : { restart: '' }),
  };
}

function publicAgentPlan({ name, run, role, model, budget, timeout_ms, requires }: AgentPlan): AgentPlan {
  return {
    name,
    run,
    ...(role === undefined ? {} : { role }),
    ...(model === undefined ? {} : { model }),
    ...(budget === undefined ? {} : { budget }),
    ...(timeout_ms === undefined ? {} : { timeout_ms }),
    ...(requires === undefined ? {} : { requires }),
  };
}

function publicPipeline(run: PipelineRun): PipelineRun {
  const { note: _, plan, history, ...rest } = run;
  const records = Object.entries(history).map(([step, record]) => [
    step,
    { ...record, output: lastWords(record.output) },
  ]);
  return { ...rest, plan: publicPipelinePlan(plan), history: Object.fromEntries(records) };
}

/** The plan's steps, for the step graph. */
function publicPipelinePlan<P extends Extract<Plan, { kind: 'pipeline' }>>(plan: P): P {
  return { ...plan, agents: {} };
}

function publicWorker(worker: WorkerPlan): WorkerPlan {
  const { plan } = worker;
  if (plan.kind === 'agent') return { ...worker, plan: { ...plan, agent: publicAgentPlan(plan.agent) } };
  return plan.kind === 'pipeline' ? { ...worker, plan: publicPipelinePlan(plan) } : worker;
}

function publicDecision(decision: Decision): Decision {
  return decision.result === null
    ? decision
    : { ...decision, context: excerptStart(decision.context, SHOWN_CHARACTERS) };
}

/** The effect's key and what settles it, without its content. */
function publicEffect(effect: Effect): Effect {
  switch (effect.type) {
    case 'AgentRequested': {
      const { note: _, ...data } = effect.data;
      return { ...effect, data: { ...data, plan: publicAgentPlan(data.plan), vars: {} } };
    }
    case 'AgentResumeRequested':
      return { ...effect, data: { ...effect.data, message: null } };
    case 'MessageRequested':
      return { ...effect, data: { ...effect.data, text: '' } };
    case 'MergeRequested': {
      const { handoff } = effect.data;
      return { ...effect, data: { ...effect.data, handoff: handoff && withoutXml(handoff) } };
    }
    default:
      return effect;
  }
}
