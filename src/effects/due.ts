import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import { isMainUnaccepted } from '../state/main/main-branch.ts';
import { type AgentRun, isAttached, isAttaching } from '../state/runs/agent-run.ts';
import type { Effect } from '../state/runs/effect.ts';
import { isHeldByBudget } from '../state/runs/standing.ts';
import type { State } from '../state/state.ts';
import { checkNoOpenDecision } from '../state/tasks/judging.ts';

/** Whether something that is owed can be done now; what cannot is looked at again after each commit. */
export function isDue(effect: Effect, state: State): boolean {
  if (effect.kind === 'merge') return isMergeDue(effect.taskId, state);
  // A process that has yet to end may still write there.
  if (effect.kind === 'clear-place') return !isWorkedOn(state, effect.taskId);
  if (effect.kind !== 'send-message' && effect.kind !== 'stop-agent' && effect.kind !== 'start-agent') return true;
  const agent = state.agents.get(effect.agentId);
  return agent === undefined || DUE_RULES[effect.kind](agent, isHeldByBudget(state, agent));
}

/** A merge waits while the main branch has commits that were not accepted, and while a person is asked about the task. */
function isMergeDue(taskId: string, state: State): boolean {
  const task = state.tasks.get(taskId);
  return !isMainUnaccepted(state) && (task === undefined || checkNoOpenDecision(state, task).ok);
}

function isWorkedOn({ agents }: State, taskId: string): boolean {
  return [...agents.values()].some(({ task, process }) => task?.task_id === taskId && process !== 'gone');
}

/** `isWaiting`: for a budget. */
type Rule = (agent: AgentRun, isWaiting: boolean) => boolean;

const DUE_RULES: Readonly<Record<'start-agent' | 'stop-agent' | 'send-message', Rule>> = {
  // One that waits for a budget is not started by Baton. What a person in front of it uses is theirs.
  'start-agent': (agent, isWaiting) => isAttached(agent) || !isWaiting,
  // One that is being started is stopped when it runs; but a start that waits for a budget would keep the person waiting as well.
  'stop-agent': ({ process }, isWaiting) => process !== 'wanted' || isWaiting,
  // One that is being started hears nothing yet; one that a person has hears it when they have left.
  'send-message': (agent, isWaiting) =>
    !isWaiting && agent.process !== 'wanted' && !isAttached(agent) && !isAttaching(agent),
};

/**
 * Whether a failure says nothing about the agent or the task: there was no descriptor, no process or no room. The effect is tried again then.
 * If that lasts although the ledger can be written, it becomes an outcome, so that nothing waits in silence.
 */
export function isTransient(error: unknown, hinderedMs: number): boolean {
  return hinderedMs < MAX_TRANSIENT_MS && (isShortage(error) || isDiskFault(error));
}

/** How long such a failure is waited for, counted while the ledger can be written. */
export const MAX_TRANSIENT_MS = 120_000;
