import type { AgentPlan, Requirement, WorkerPlan } from '../protocol/run-plan.ts';
import { decideClaimTask } from '../state/claim-task.ts';
import { event, type Event } from '../state/event.ts';
import { hasRoom } from '../state/runs/capacity.ts';
import type { PipelineRunPlan } from '../state/runs/start-run.ts';
import { pipelineOfShell } from '../state/runs/start-run.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/task.ts';
import { budgetGate } from './budget-gate.ts';
import type { World } from './world.ts';

/** Workers claim what is ready and fits them, most urgent first, as many as they may run at once. */
export function dispatch(world: World, starting: AgentPlan[]): Event[] {
  const { state } = world;
  if (state.workers.size === 0) return [];
  const taken = new Set<string>();
  const events: Event[] = [];
  const workers = [...state.workers.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const gate = budgetGate(world);
  if (gate.isDaySpent) {
    const isWanted = workers.some((worker) => findWork(world, worker, taken, freeOf(state, worker)).length > 0);
    return isWanted ? gate.askForDay() : [];
  }
  for (const worker of workers) {
    for (const task of findWork(world, worker, taken, freeOf(state, worker), gate.mayTake)) {
      const agent = agentOf(worker);
      if (agent !== undefined && !hasRoom(state, agent, world.rules, starting)) break;
      const claimed = take(world, worker, task);
      if (claimed.length === 0) continue;
      taken.add(task.id);
      if (agent !== undefined) starting.push(agent);
      events.push(...claimed);
    }
  }
  return [...gate.askForTasks(), ...events];
}

function freeOf(state: State, { name, concurrency }: WorkerPlan): number {
  return concurrency - countRuns(state, name);
}

function countRuns({ agents, pipelines }: State, worker: string): number {
  const open = (run: { readonly worker: string | null; readonly outcome: unknown }): boolean =>
    run.worker === worker && run.outcome === null;
  const alone = [...agents.values()].filter((agent) => agent.owner === null && open(agent));
  const roots = [...pipelines.values()].filter((run) => run.parent === null && open(run));
  return alone.length + roots.length;
}

/** The first tasks that fit. Most of the ready ones usually do, so only as many are looked at as it takes. */
function findWork(
  { state, ready, rules }: World,
  worker: WorkerPlan,
  taken: ReadonlySet<string>,
  free: number,
  isAffordable: (task: Task) => boolean = () => true,
): readonly Task[] {
  if (free <= 0) return [];
  const fit = (task: Task): boolean =>
    !taken.has(task.id) && fits(worker, task) && mayTake(worker, task, rules) && isAffordable(task);
  const closing = ready.closing(state, MOST_CLOSING).filter(fit).slice(0, free);
  if (closing.length === free) return closing;
  for (let look = 64; ; look *= 8) {
    const seen = ready.first(state, look);
    const fitting = [...closing, ...seen.filter(fit)].slice(0, free);
    if (fitting.length === free || seen.length < look) return fitting;
  }
}

/** They are closed as they come, so there are never many. */
const MOST_CLOSING = 1000;

function fits({ tasks, phases, roles, workflow, plan }: WorkerPlan, { id, phase, nextRole, flow }: Task): boolean {
  if (workflow === true && (flow.mode === null || nextRole === null)) return false;
  // What is completed is closed by the role that closes, and is no work for anybody else.
  if (phase === 'COMPLETED' && !roles?.includes(nextRole ?? '') && roleOf(plan) !== nextRole) return false;
  if (tasks !== undefined && !tasks.some((pattern) => matches(pattern, id))) return false;
  if (phases !== undefined && !phases.includes(phase)) return false;
  if (nextRole === null) return true;
  if (roles !== undefined && !roles.includes(nextRole)) return false;
  return (roleOf(plan) ?? nextRole) === nextRole;
}

function roleOf(plan: WorkerPlan['plan']): string | undefined {
  return plan.kind === 'agent' ? plan.agent.role : undefined;
}

/** Whoever implements or fixes does not review, unless the runbook says that the same agent may. */
function mayTake(worker: WorkerPlan, { nextRole, flow }: Task, { sameAgentMayReview }: World['rules']): boolean {
  return nextRole !== 'reviewer' || sameAgentMayReview === true || !flow.authors.includes(nameOf(worker));
}

/** People know the agent by its name, and duties are kept apart by it; a pipeline goes by the worker's. */
function nameOf(worker: WorkerPlan): string {
  return worker.plan.kind === 'agent' ? worker.plan.agent.name : worker.name;
}

/** `*` stands for any part of an id. */
function matches(pattern: string, id: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^${}()|[\]]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`).test(id);
}

/** The claim and the run in one go: there is no moment in which one is there without the other. */
function take(world: World, worker: WorkerPlan, task: Task): readonly Event[] {
  const id = world.newId();
  const role = task.nextRole ?? agentOf(worker)?.role ?? (worker.roles?.length === 1 ? worker.roles[0] : undefined);
  const claim = decideClaimTask(
    world.state,
    {
      id: task.id,
      sessionId: id,
      holder: nameOf(worker),
      requires: owedBy(worker),
      ...(role === undefined ? {} : { role }),
    },
    world.rules,
  );
  if (!claim.ok) return [];
  const ref = { task_id: task.id, epoch: claim.answer.epoch, session_id: id };
  const shared = { task: ref, worker: worker.name };
  const { plan } = worker;
  if (plan.kind === 'agent') {
    const on_stop = plan.agent.on_stop?.action ?? 'signal';
    const wanted = { agent_id: id, plan: plan.agent, owner: null, vars: {}, on_stop, ...shared };
    return [...claim.events, event('AgentRequested', wanted)];
  }
  const pipeline = plan.kind === 'shell' ? pipelineOfShell(worker.name, plan.command) : plan;
  const vars = presetsOf(pipeline);
  const started = { pipeline_id: id, name: pipeline.pipeline, vars, plan: pipeline, parent: null, ...shared };
  return [...claim.events, event('PipelineStarted', started)];
}

function presetsOf({ pipelines, pipeline }: PipelineRunPlan): Readonly<Record<string, string>> {
  const declared = Object.entries(pipelines[pipeline]?.vars ?? {});
  return Object.fromEntries(declared.flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

const OWED: readonly Requirement[] = ['exit', 'result'];

/** What the session owes; the thought record comes on top where it committed anything, which only its end shows. */
function owedBy(worker: WorkerPlan): readonly Requirement[] {
  return agentOf(worker)?.requires ?? OWED;
}

/** The agent that a worker starts first; of a pipeline the one whose step comes first. */
function agentOf({ plan }: WorkerPlan): AgentPlan | undefined {
  if (plan.kind !== 'pipeline') return plan.kind === 'agent' ? plan.agent : undefined;
  const steps = plan.pipelines[plan.pipeline]?.steps ?? [];
  const first = steps.find(({ run }) => run.kind === 'agent')?.run;
  return first?.kind === 'agent' ? plan.agents[first.agent] : undefined;
}
