import type { AgentRun } from './agent-run.ts';
import type { Decision } from './decision.ts';
import type { Runs } from './runs.ts';

/** The open decision about an agent's silence. It is withdrawn as soon as the agent is heard, so it must not stand in for any other question. */
export function findSilenceDecision({ decisions }: Pick<Runs, 'decisions'>, agent: AgentRun): Decision | undefined {
  const asked = decisions.get(agent.parked ?? '');
  return asked?.untilHeard === true && asked.result === null && agent.outcome === null ? asked : undefined;
}
