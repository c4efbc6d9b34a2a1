import type { Caller } from '../caller.ts';
import { decided, refusal, type Outcome } from '../outcome.ts';
import type { State } from '../state.ts';
import type { AgentRun } from './agent-run.ts';
import type { PipelineRun } from './pipeline-run.ts';

export function findAgent(state: State, id: string): Outcome<AgentRun> {
  const agent = state.agents.get(id);
  return agent === undefined
    ? refusal('no-such-agent', `there is no agent ${id}`, 'See all agents: baton agent list --all')
    : decided([], agent);
}

export function findPipeline(state: State, id: string): Outcome<PipelineRun> {
  const run = state.pipelines.get(id);
  return run === undefined
    ? refusal('no-such-pipeline', `there is no pipeline ${id}`, 'See all pipelines: baton pipeline list --all')
    : decided([], run);
}

/** The agents of a claim whose run continues: usually one, except during a handover. */
export function agentsOfClaim(state: State, sessionId: string): readonly AgentRun[] {
  if (state.agents.size === 0) return [];
  return [...state.agents.values()].filter((agent) => agent.outcome === null && agent.task?.session_id === sessionId);
}

/**
 * The session for which a caller acts. Its messages stay in order: an agent's exit must not overtake the signal of its
 * session. An agent without a task, and a command, stand for themselves.
 */
export function sessionOf({ agents }: Pick<State, 'agents'>, caller: Caller): string {
  if (caller.kind === 'session') return caller.sessionId;
  return 'agentId' in caller ? (agents.get(caller.agentId)?.task?.session_id ?? caller.agentId) : caller.kind;
}

/** Returns the run that a caller names, or its own. Only operators and Baton itself may name another one. */
export function findReportedAgent(
  state: State,
  caller: Caller,
  named: string | undefined,
): Outcome<AgentRun | undefined> {
  const id = named ?? ownAgent(state, caller);
  if (id === undefined) return decided([], undefined);
  const agent = findAgent(state, id);
  if (!agent.ok) return caller.kind === 'session' && id === caller.sessionId ? decided([], undefined) : agent;
  return isOwn(agent.answer, caller)
    ? agent
    : refusal('not-your-agent', `agent ${id} belongs to another session`, 'Use the id in BATON_AGENT_ID.');
}

function ownAgent(state: State, caller: Caller): string | undefined {
  if (caller.kind === 'agent' || caller.kind === 'supervisor') return caller.agentId;
  if (caller.kind !== 'session') return undefined;
  return agentsOfClaim(state, caller.sessionId)[0]?.id ?? caller.sessionId;
}

function isOwn(agent: AgentRun, caller: Caller): boolean {
  switch (caller.kind) {
    case 'agent':
    case 'supervisor':
      return agent.id === caller.agentId;
    case 'session':
      return agent.id === caller.sessionId || agent.task?.session_id === caller.sessionId;
    default:
      return true;
  }
}

/** A run without a task that has failed. What becomes of a run with a task shows in its task. */
export interface FailedRun {
  readonly kind: 'pipeline' | 'agent';
  readonly id: string;
  readonly name: string;
  readonly reason: string | null;
}

/** Lists the failed runs that nobody has run again or acknowledged, newest first. */
export function listFailedRuns({ pipelines, agents }: Pick<State, 'pipelines' | 'agents'>): readonly FailedRun[] {
  const latest = new Map<string, Candidate>();
  for (const run of pipelines.values()) keepLatest(latest, candidateOfPipeline(run));
  for (const run of agents.values()) keepLatest(latest, candidateOfAgent(run));
  return [...latest.values()]
    .filter(({ run }) => run.outcome === 'failed' && run.acknowledged !== true)
    .toSorted((a, b) => (b.run.over ?? 0) - (a.run.over ?? 0))
    .map(({ kind, name, run: { id, reason } }) => ({ kind, id, name, reason }));
}

interface Candidate {
  readonly kind: FailedRun['kind'];
  readonly name: string;
  readonly at: string;
  readonly run: PipelineRun | AgentRun;
}

function candidateOfPipeline(run: PipelineRun): Candidate | undefined {
  const isAlone = run.parent === null && run.task === null;
  return isAlone ? { kind: 'pipeline', name: run.name, at: run.startedAt, run } : undefined;
}

function candidateOfAgent(run: AgentRun): Candidate | undefined {
  const isAlone = run.owner === null && run.task === null;
  return isAlone ? { kind: 'agent', name: run.plan.name, at: run.requestedAt, run } : undefined;
}

/** A later run of the same name replaces an earlier one: it was run again. */
function keepLatest(latest: Map<string, Candidate>, candidate: Candidate | undefined): void {
  if (candidate === undefined) return;
  const key = `${candidate.kind} ${candidate.name}`;
  const known = latest.get(key);
  if (known === undefined || known.at <= candidate.at) latest.set(key, candidate);
}
