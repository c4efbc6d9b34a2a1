import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import { type Here, isMine } from '../state/fleet/owner.ts';
import { isMainUnaccepted } from '../state/main/main-branch.ts';
import { type AgentRun, isAttached, isAttaching } from '../state/runs/agent-run.ts';
import { type Effect, isStartEffect, isStopEffect } from '../state/runs/effect.ts';
import { isHeldByBudget } from '../state/runs/standing.ts';
import type { State } from '../state/state.ts';
import { checkNoOpenDecision } from '../state/tasks/judging.ts';
import { RemoteAway } from './travel/remote-away.ts';

/** Whether an effect can be performed now. If not, it is checked again after each commit. */
export function isDue(effect: Effect, state: State): boolean {
  const { type, data } = effect;
  if (type === 'MergeRequested') return isMergeDue(data.task_id, state);
  if (type === 'PlaceClearRequested') return !isWorkedOn(state, data.task_id) && !isToBeMeasured(state, data.task_id);
  if (type === 'MessageRequested') return isAgentDue(state, data.agent_id, isMessageDue);
  if (isStartEffect(effect)) return isAgentDue(state, effect.data.agent_id, isStartDue);
  return !isStopEffect(effect) || isAgentDue(state, effect.data.agent_id, isStopDue);
}

/** Returns where a started effect is owed now. A merge that needs a person is started again later. */
export function judgeBegun(effect: Effect, state: State, here: Here | undefined): 'here' | 'elsewhere' | 'nowhere' {
  const isOwed = state.effects.get(effect.key) === effect && (effect.type !== 'MergeRequested' || isDue(effect, state));
  if (!isOwed) return 'nowhere';
  return isMine(effect, state, here) ? 'here' : 'elsewhere';
}

function isAgentDue(state: State, id: string, rule: (agent: AgentRun, isHeld: boolean) => boolean): boolean {
  const agent = state.agents.get(id);
  return agent === undefined || rule(agent, isHeldByBudget(state, agent));
}

/** A budget hold delays starts by Baton. An attached person uses their own budget. */
function isStartDue(agent: AgentRun, isHeld: boolean): boolean {
  return isAttached(agent) || !isHeld;
}

/**
 * A starting process is stopped once it runs. A start held by a budget would make the person wait, so it is cancelled.
 */
function isStopDue({ process }: AgentRun, isHeld: boolean): boolean {
  return process !== 'wanted' || isHeld;
}

/** Messages wait for a starting process, and while a person is attached. */
function isMessageDue(agent: AgentRun, isHeld: boolean): boolean {
  return !isHeld && agent.process !== 'wanted' && !isAttached(agent) && !isAttaching(agent);
}

/**
 * A merge waits while the main branch has commits that were not accepted, and while a decision about the task is open.
 */
function isMergeDue(taskId: string, state: State): boolean {
  const task = state.tasks.get(taskId);
  return !isMainUnaccepted(state) && (task === undefined || checkNoOpenDecision(state, task).ok);
}

/** A running process may still write to the worktree. */
function isWorkedOn({ agents }: State, taskId: string): boolean {
  return [...agents.values()].some(({ task, process }) => task?.task_id === taskId && process !== 'gone');
}

/** A session that completed the task without an exit signal is measured after its end, in its worktree. */
function isToBeMeasured({ tasks, sessions }: State, taskId: string): boolean {
  const task = tasks.get(taskId);
  const last = sessions.get(task?.endings.at(-1)?.sessionId ?? '');
  return task?.phase === 'COMPLETED' && last?.prepared !== undefined && last.measured !== true;
}

/**
 * Whether a failure is unrelated to the agent and the task: no file descriptor, process or disk space was left, or the
 * remote of a fleet does not answer. The effect is then retried. If that lasts although the ledger can be written, the
 * failure is recorded, so that people see it.
 */
export function isTransient(error: unknown, hinderedMs: number): boolean {
  if (error instanceof RemoteAway) return hinderedMs < MAX_AWAY_MS;
  return hinderedMs < MAX_TRANSIENT_MS && (isShortage(error) || isDiskFault(error));
}

/** How long a transient failure is retried. Only time in which the ledger can be written counts. */
export const MAX_TRANSIENT_MS = 120_000;
/** The same for an unavailable remote. */
const MAX_AWAY_MS = 600_000;
