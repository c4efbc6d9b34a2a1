import type { AgentPlan } from '../../protocol/run-plan.ts';
import type { Rules } from '../rules.ts';
import type { AgentRun } from './agent-run.ts';
import type { Runs } from './runs.ts';

/** Whether one more agent of this definition may run now. `more`: others that are about to start. */
export function hasCapacity(
  { agents }: Pick<Runs, 'agents'>,
  { name, max_concurrency: most }: AgentPlan,
  { maxAgents }: Rules,
  more: readonly AgentPlan[] = [],
): boolean {
  if (most === undefined && maxAgents === undefined) return true;
  const busy = [...agents.values()].filter(usesCapacity).map(({ plan }) => plan);
  const all = [...busy, ...more];
  const same = all.filter((plan) => plan.name === name);
  return all.length < (maxAgents ?? Infinity) && same.length < (most ?? Infinity);
}

/** A process, or one that is about to come back. An agent that left and waits for a person takes none. */
function usesCapacity({ process, outcome, parked }: AgentRun): boolean {
  return process !== 'gone' || (outcome === null && parked === null);
}
