import type { Standing } from '../../protocol/standing.ts';
import type { Session, State } from '../state.ts';
import { usesExitProtocol } from '../tasks/task.ts';
import { findMissingMessages, hasWriteback } from '../tasks/writeback.ts';
import type { AgentRun } from './agent-run.ts';

/** An unknown agent has no owner and may stop, unless it is a user's own session that has claimed a task by hand. */
export function standingOf(state: State, agentId: string, exitProtocol: boolean): Standing {
  const agent = state.agents.get(agentId);
  const session = agent === undefined ? state.sessions.get(agentId) : undefined;
  if (session !== undefined) return standingByHand(state, session);
  return {
    at: state.seq,
    has_signalled: agent !== undefined && agent.signal !== null,
    is_owned: agent !== undefined && agent.outcome === null,
    is_parked: agent !== undefined && agent.parked !== null,
    ...(isHeldByBudget(state, agent) ? { is_held: true } : {}),
    ...(agent === undefined || agent.blocks === 0 ? {} : { blocks: agent.blocks }),
    missing: agent === undefined ? [] : missingOf(state, agent, exitProtocol),
  };
}

/** Reports whether the agent waits for a budget. An agent whose run has ended does not wait. */
export function isHeldByBudget({ decisions }: Pick<State, 'decisions'>, agent: AgentRun | undefined): boolean {
  return agent?.outcome === null && decisions.get(agent.parked ?? '')?.source === 'budget';
}

/** The standing of a session that owes a thought record. It may stop once it has sent one or its claim has ended. */
function standingByHand(state: State, { id, taskId }: Session): Standing {
  const task = state.tasks.get(taskId);
  const claim = task?.claim?.sessionId === id ? task.claim : null;
  const is_owned = task !== undefined && claim !== null;
  const has_signalled = is_owned && hasWriteback(task, claim);
  return {
    at: state.seq,
    has_signalled,
    is_owned,
    is_parked: false,
    missing: is_owned && !has_signalled ? [WORDS.thought_record] : [],
  };
}

const WORDS = { exit: 'exit signal', result: 'result', handoff: 'handoff', thought_record: 'thought record' } as const;

function missingOf(state: State, { task: ref, outcome }: AgentRun, exitProtocol: boolean): string[] {
  const task = ref === null || outcome !== null ? undefined : state.tasks.get(ref.task_id);
  const claim = task?.claim ?? undefined;
  if (task === undefined || claim === undefined || claim.sessionId !== ref?.session_id) return [];
  const owed = findMissingMessages(task, claim, false).filter((each) => each !== 'exit');
  return [...owed, ...(usesExitProtocol(task, exitProtocol) ? (['exit'] as const) : [])].map((each) => WORDS[each]);
}
