import type { State } from '../state.ts';
import type { AgentRun } from './agent-run.ts';
import { findOwed } from '../owed.ts';

/** How an agent stands with those who wait for it: what the stop hook wants to know. */
export interface AgentStanding {
  readonly has_signalled: boolean;
  /** A step, or the run itself, still waits for it. */
  readonly is_owned: boolean;
  readonly is_parked: boolean;
  /** What the session still owes, in words. */
  readonly missing: readonly string[];
}

/** An agent that is not known is nobody's, and may leave. */
export function standingOf(state: State, agentId: string, exitProtocol: boolean): AgentStanding {
  const agent = state.agents.get(agentId);
  return {
    has_signalled: agent !== undefined && agent.signal !== null,
    is_owned: agent !== undefined && agent.outcome === null,
    is_parked: agent !== undefined && agent.parked !== null,
    missing: agent === undefined ? [] : missingOf(state, agent, exitProtocol),
  };
}

const WORDS = { exit: 'exit signal', result: 'result', handoff: 'handoff', thought_record: 'thought record' } as const;

function missingOf(state: State, { task: ref, outcome }: AgentRun, exitProtocol: boolean): string[] {
  const task = ref === null || outcome !== null ? undefined : state.tasks.get(ref.task_id);
  const claim = task?.claim ?? undefined;
  if (task === undefined || claim === undefined || claim.sessionId !== ref?.session_id) return [];
  const owed = findOwed(task, claim, false).filter((each) => each !== 'exit');
  return [...owed, ...(exitProtocol ? (['exit'] as const) : [])].map((each) => WORDS[each]);
}
