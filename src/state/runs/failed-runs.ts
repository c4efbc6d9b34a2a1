import { event } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { State } from '../state.ts';
import type { AgentRun } from './agent-run.ts';
import type { PipelineRun } from './pipeline-run.ts';

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

/** Acknowledges a failed run: it needs nobody any more. */
export function decideAcknowledgeRun(
  { pipelines, agents }: State,
  { id }: { readonly id: string },
): Outcome<{ readonly id: string }> {
  const run = pipelines.get(id) ?? agents.get(id);
  if (run === undefined) return refusal('no-such-run', `there is no run ${id}`, 'See what needs you: baton status');
  if (run.outcome !== 'failed')
    return refusal('run-not-failed', `the run ${id} has not failed`, 'Only a failed run is acknowledged.');
  return decided(run.acknowledged === true ? [] : [event('RunAcknowledged', { run_id: id })], { id });
}
