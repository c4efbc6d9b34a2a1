import type { WorkerPlan } from '../../protocol/run-plan.ts';
import { findAdoption, type AdoptionState } from '../adoption.ts';
import { mayClaim } from './first-fitting.ts';
import { agentPrincipal, type Principal } from '../principal.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import type { Task } from './task.ts';

/** A worker, and the runbook whose workflows it works on; null: tasks that go by the runbook in force. */
export interface PinnedWorker {
  readonly worker: WorkerPlan;
  readonly runbook: string | null;
}

/** Whether a worker takes this task once it is free. Dispatch offers nothing else, so a task that fits no worker is never started. */
export function fitsWorker(state: State, { worker, runbook }: PinnedWorker, task: Task, rules: Rules): boolean {
  return (
    isOfRunbook(state, task, runbook) &&
    fits(worker, task) &&
    principalsOf(worker).every((principal) => mayClaim(state, task, principal, rules))
  );
}

/** The workers in force, and those of earlier runbooks that the caller selects: their workflows keep the workers they started with. */
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

/** The name that people know a worker by: its agent's, or its own if it runs a pipeline or a shell command. */
export function holderName({ name, plan }: WorkerPlan): string {
  return plan.kind === 'agent' ? plan.agent.name : name;
}

function isOfRunbook(state: AdoptionState, { flow: { runbook: own } }: Task, runbook: string | null): boolean {
  const isInForce = own === null || own === findAdoption(state)?.sha256;
  return isInForce ? runbook === null : runbook === own;
}

function fits({ tasks, phases, roles, workflow, plan }: WorkerPlan, { id, phase, nextRole, flow }: Task): boolean {
  if (workflow === true && (flow.mode === null || nextRole === null)) return false;
  // A completed task is closed by the role that closes, and is no work for any other.
  if (phase === 'COMPLETED' && !roles?.includes(nextRole ?? '') && roleOf(plan) !== nextRole) return false;
  if (tasks !== undefined && !tasks.some((pattern) => matchesPattern(pattern, id))) return false;
  if (phases !== undefined && !phases.includes(phase)) return false;
  if (nextRole === null) return true;
  if (roles !== undefined && !roles.includes(nextRole)) return false;
  return (roleOf(plan) ?? nextRole) === nextRole;
}

function roleOf(plan: WorkerPlan['plan']): string | undefined {
  return plan.kind === 'agent' ? plan.agent.role : undefined;
}

/** Who answers for a worker's work: the agent definitions that it runs, and, of a pipeline, the worker itself. */
function principalsOf(worker: WorkerPlan): readonly Principal[] {
  const { plan } = worker;
  const agents = plan.kind === 'pipeline' ? Object.values(plan.agents).map(({ name }) => name) : [];
  return [holderName(worker), ...agents].map(agentPrincipal);
}

/** `*` stands for any part of an id. Without a regular expression: this runs for each task and worker, and its time must be linear. */
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
