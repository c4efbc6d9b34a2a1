import type { WorkerPlan } from '../../protocol/run-plan.ts';
import { agentPrincipal, type Principal } from '../caller.ts';
import { hasSomeHost } from '../fleet/labels.ts';
import { type AdoptionState, findAdoption, type Rules, rulesInForce } from '../rules.ts';
import type { State } from '../state.ts';
import { WORKFLOW_START_PHASES } from '../workflow/start-workflow.ts';
import { asksAboutWork } from '../runs/open-decisions.ts';
import { isClaimable, isClosable } from './claim-task.ts';
import { checkMayJudge } from './judging.ts';
import type { ReadyGroup } from './ready.ts';
import { JUDGED_PHASES, type Task, taskStatus } from './task.ts';

/** A worker and its runbook; `runbook` is null for the runbook in force. */
export interface PinnedWorker {
  readonly worker: WorkerPlan;
  readonly runbook: string | null;
}

/**
 * Reports whether a worker would claim this task. Dispatch offers nothing else, so a task that fits no worker is never
 * started.
 */
export function fitsWorker(state: State, { worker, runbook }: PinnedWorker, task: Task, rules: Rules): boolean {
  const { assigned } = task.flow;
  // A workflow would give the task to other agents than the assigned one.
  if (assigned !== null && ('person' in assigned || worker.plan.kind === 'workflow')) return false;
  const principals = assigned === null ? principalsOf(worker) : [agentPrincipal(assigned.agent.name)];
  return (
    isOfRunbook(state, task, runbook) &&
    fits(worker, task) &&
    principals.every((principal) => mayClaim(state, task, principal, rules))
  );
}

/**
 * The workers in force, and those of earlier runbooks that the caller selects: workflows keep the workers they started
 * with.
 */
export function workersInUse(
  state: State,
  { adopted }: Rules,
  isUsed: (sha256: string) => boolean,
): readonly PinnedWorker[] {
  const inForce = findAdoption(state)?.sha256;
  const current = [...state.workers.values()].map((worker) => ({ worker, runbook: null }));
  const earlier = [...(adopted ?? [])]
    .filter(([sha256]) => sha256 !== inForce && isUsed(sha256))
    .flatMap(([runbook, { workers = [] }]) => workers.map((worker) => ({ worker, runbook })));
  return [...current, ...earlier].sort((a, b) => (a.worker.name < b.worker.name ? -1 : 1));
}

/** The worker's name for people: its agent's name, or its own name if it runs a pipeline or a shell command. */
export function holderName({ name, plan }: WorkerPlan): string {
  return plan.kind === 'agent' ? plan.agent.name : name;
}

function isOfRunbook(state: AdoptionState, { flow: { runbook: own } }: Task, runbook: string | null): boolean {
  const isInForce = own === null || own === findAdoption(state)?.sha256;
  return isInForce ? runbook === null : runbook === own;
}

function fits(worker: WorkerPlan, { id, phase, nextRole: role, flow }: Task): boolean {
  if (!servesGroup(worker, { phase, role, isInWorkflow: flow.mode !== null })) return false;
  return worker.tasks === undefined || worker.tasks.some((pattern) => matchesPattern(pattern, id));
}

/** Reports whether a worker may claim tasks of this group. */
export function servesGroup(
  { phases, roles, workflow, plan }: WorkerPlan,
  { phase, role, isInWorkflow }: ReadyGroup,
): boolean {
  if (plan.kind === 'workflow' && (isInWorkflow || !WORKFLOW_START_PHASES.has(phase))) return false;
  if (workflow === true && (!isInWorkflow || role === null)) return false;
  // Only the closing role claims a completed task.
  if (phase === 'COMPLETED' && !roles?.includes(role ?? '') && roleOf(plan) !== role) return false;
  if (phases !== undefined && !phases.includes(phase)) return false;
  if (role === null) return true;
  if (roles !== undefined && !roles.includes(role)) return false;
  return (roleOf(plan) ?? role) === role;
}

function roleOf(plan: WorkerPlan['plan']): string | undefined {
  return plan.kind === 'agent' ? plan.agent.role : undefined;
}

/** The principals of a worker: the agent definitions that it runs, and for a pipeline the worker itself. */
function principalsOf(worker: WorkerPlan): readonly Principal[] {
  const { plan } = worker;
  const agents = plan.kind === 'pipeline' ? Object.values(plan.agents).map(({ name }) => name) : [];
  return [holderName(worker), ...agents].map(agentPrincipal);
}

/**
 * Matches an id; `*` matches any part. Not a regular expression, because this runs for each task and worker and must be
 * linear.
 */
export function matchesPattern(pattern: string, id: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === id;
  const end = id.length - last.length;
  let from = first.length;
  if (from > end || !id.startsWith(first) || !id.endsWith(last)) return false;
  for (const part of others) {
    const at = id.indexOf(part, from);
    if (at === -1 || at + part.length > end) return false;
    from = at + part.length;
  }
  return true;
}

/**
 * Reports whether the rules about judging would accept a claim by this principal, so that dispatch does not offer a
 * claim that would be refused.
 */
export function mayClaim(state: State, task: Task, principal: Principal, rules: Rules): boolean {
  return !JUDGED_PHASES.has(task.phase) || checkMayJudge(state, task, principal, rules).ok;
}

/** Returns the most urgent tasks that fit. Searches only as far as needed. */
export function findFittingTasks(
  first: (count: number) => readonly Task[],
  count: number,
  fits: (task: Task) => boolean,
): readonly Task[] {
  for (let look = Math.max(FIRST_LOOK, count); ; look *= 8) {
    const seen = first(look);
    const fitting = seen.filter(fits).slice(0, count);
    if (fitting.length === count || seen.length < look) return fitting;
  }
}

const FIRST_LOOK = 64;

/**
 * The claimable tasks in a phase that no worker serves, oldest first, without an open decision about them: each needs a
 * person. `todo` tasks are a backlog, which people and their own sessions claim; they are listed only if a worker would
 * take them and no host has its labels. In a fleet, a worker serves only if some host has its labels.
 */
export function findUnservedTasks(state: State, rules: Rules): readonly Task[] {
  return listUnserved(state, rules).map(({ task }) => task);
}

export interface UnservedTask {
  readonly task: Task;
  /** The labels of a worker that would take the task, if no host has all of them. */
  readonly missing: readonly string[] | null;
}

export function listUnserved(state: State, rules: Rules): readonly UnservedTask[] {
  const inForce = rulesInForce(state, rules);
  const asked = tasksInDecisions(state);
  const waiting = [...state.tasks.values()].filter(
    (task) => !asked.has(task.id) && (isClosable(task) || isClaimable(state, task, inForce)),
  );
  if (waiting.length === 0) return [];
  const runbooks = new Set(waiting.map(({ flow }) => flow.runbook));
  const workers = workersInUse(state, inForce, (sha256) => runbooks.has(sha256));
  const served = workers.filter(({ worker }) => hasSomeHost(state, worker));
  const unplaced = workers.filter(({ worker }) => !hasSomeHost(state, worker));
  const fitting = (some: readonly PinnedWorker[], task: Task) =>
    some.find((worker) => fitsWorker(state, worker, task, inForce));
  return waiting
    .filter((task) => unplaced.length > 0 || !isBacklog(task))
    .filter((task) => fitting(served, task) === undefined)
    .map((task) => ({ task, missing: fitting(unplaced, task)?.worker.labels ?? null }))
    .filter(({ task, missing }) => missing !== null || !isBacklog(task))
    .sort((a, b) => a.task.n - b.task.n);
}

/**
 * Open tasks that nothing moves, oldest first: no session holds them and none can claim them, and no person, no check,
 * no merge and no other task is waited for. So it is with a task in CI_PENDING if its checks were set later.
 */
export function findStuckTasks(state: State, rules: Rules): readonly Task[] {
  const inForce = rulesInForce(state, rules);
  const asked = tasksInDecisions(state);
  return [...state.tasks.values()]
    .filter(
      (task) =>
        task.phase !== 'COMPLETED' &&
        task.phase !== 'BLOCKED' &&
        task.claim === null &&
        !asked.has(task.id) &&
        !hasGate(task) &&
        task.after.every((id) => state.tasks.get(id)?.phase === 'COMPLETED') &&
        !isClaimable(state, task, inForce),
    )
    .sort((a, b) => a.n - b.n);
}

/** Reports whether checks, a pull request or a merge will move the task. */
function hasGate({ flow: { checks, pull, merge } }: Task): boolean {
  return merge !== null || checks?.outcome === null || pull?.isWanted === true;
}

/** Reports whether it is a `todo` task without a workflow, of which no session was lost. */
function isBacklog(task: Task): boolean {
  const { phase, endings, flow } = task;
  const how = endings.at(-1)?.how;
  if (flow.mode !== null || how === 'expired' || how === 'failed') return false;
  return taskStatus(task) === 'todo' && (phase === 'DRAFT' || phase === 'IMPLEMENTATION');
}

function tasksInDecisions({ decisions }: State): ReadonlySet<string | null> {
  return new Set([...decisions.values()].filter(asksAboutWork).map(({ taskId }) => taskId));
}
