import { isClaimable, isClosable } from './claim-task.ts';
import { rulesInForce, type Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { taskStatus, type Task } from './task.ts';
import { fitsWorker, workersInUse } from './worker-fit.ts';

/**
 * The tasks that wait in a phase that no worker serves, oldest first: a session could claim them now, no worker of the runbook ever will,
 * and no open decision asks about them. Each needs a person. In a project without workers a `todo` task is not among them: such a project
 * is a list that people and their own sessions claim from.
 */
export function findUnservedTasks(state: State, rules: Rules): readonly Task[] {
  const inForce = rulesInForce(state, rules);
  const asked = tasksInDecisions(state);
  const waiting = [...state.tasks.values()].filter(
    (task) =>
      !asked.has(task.id) &&
      (isClosable(task) || isClaimable(state, task, inForce)) &&
      (state.workers.size > 0 || !isBacklog(task)),
  );
  if (waiting.length === 0) return [];
  const runbooks = new Set(waiting.map(({ flow }) => flow.runbook));
  const workers = workersInUse(state, inForce, (sha256) => runbooks.has(sha256));
  return waiting
    .filter((task) => !workers.some((worker) => fitsWorker(state, worker, task, inForce)))
    .sort((a, b) => a.n - b.n);
}

/** It is `todo`, no workflow is to begin it, and no session was lost over it. */
function isBacklog(task: Task): boolean {
  const { phase, endings, flow } = task;
  const how = endings.at(-1)?.how;
  if (flow.mode !== null || how === 'expired' || how === 'failed') return false;
  return taskStatus(task) === 'todo' && (phase === 'DRAFT' || phase === 'IMPLEMENTATION');
}

function tasksInDecisions({ decisions }: State): ReadonlySet<string | null> {
  return new Set([...decisions.values()].flatMap(({ result, taskId }) => (result === null ? [taskId] : [])));
}
