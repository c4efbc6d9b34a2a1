import type { AgentPlan, Requirement, WorkerPlan } from '../protocol/run-plan.ts';
import { adoptionInForce } from '../state/adoption.ts';
import { decideClaimTask } from '../state/claim-task.ts';
import { event, type Event } from '../state/event.ts';
import { firstFitting, mayTake } from '../state/first-fitting.ts';
import { agentPrincipal, type Principal } from '../state/principal.ts';
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
  const workers = workersOf(world);
  if (workers.length === 0) return [];
  const taken = new Set<string>();
  /** Runs that are about to start, by worker: workers of the same name in two runbooks share what may run at once. */
  const begun = new Map<string, number>();
  const events: Event[] = [];
  const gate = budgetGate(world);
  const freeOf = ({ name, concurrency }: WorkerPlan): number =>
    concurrency - countRuns(state, name) - (begun.get(name) ?? 0);
  if (gate.isDaySpent) {
    const isWanted = workers.some((each) => findWork(world, each, taken, freeOf(each.worker)).length > 0);
    return isWanted ? gate.askForDay() : [];
  }
  for (const each of workers) {
    const { worker } = each;
    for (const task of findWork(world, each, taken, freeOf(worker), gate.mayTake)) {
      const agent = agentOf(worker);
      if (agent !== undefined && !hasRoom(state, agent, world.rules, starting)) break;
      const claimed = take(world, worker, task);
      if (claimed.length === 0) continue;
      taken.add(task.id);
      begun.set(worker.name, (begun.get(worker.name) ?? 0) + 1);
      if (agent !== undefined) starting.push(agent);
      events.push(...claimed);
    }
  }
  return [...gate.askForTasks(), ...events];
}

/** A worker, and the runbook whose workflows it works on; null: tasks that go by the runbook in force. */
interface PinnedWorker {
  readonly worker: WorkerPlan;
  readonly runbook: string | null;
}

/** The workers in force, and for workflows that were started with another runbook and are ready the workers of that one. */
function workersOf({ state, ready, rules }: World): readonly PinnedWorker[] {
  const inForce = adoptionInForce(state)?.sha256;
  const current = [...state.workers.values()].map((worker) => ({ worker, runbook: null }));
  const earlier = [...(rules.adopted ?? [])]
    .filter(([sha256]) => sha256 !== inForce && ready.hasRunbook(state, sha256))
    .flatMap(([runbook, { workers = [] }]) => workers.map((worker) => ({ worker, runbook })));
  return [...current, ...earlier].sort((a, b) => (a.worker.name < b.worker.name ? -1 : 1));
}

function isOf({ flow: { runbook: own } }: Task, runbook: string | null, { state }: World): boolean {
  const isInForce = own === null || own === adoptionInForce(state)?.sha256;
  return isInForce ? runbook === null : runbook === own;
}

function countRuns({ agents, pipelines }: State, worker: string): number {
  const open = (run: { readonly worker: string | null; readonly outcome: unknown }): boolean =>
    run.worker === worker && run.outcome === null;
  const alone = [...agents.values()].filter((agent) => agent.owner === null && open(agent));
  const roots = [...pipelines.values()].filter((run) => run.parent === null && open(run));
  return alone.length + roots.length;
}

/** The first tasks that fit a worker, as many as it is free for. */
function findWork(
  world: World,
  { worker, runbook }: PinnedWorker,
  taken: ReadonlySet<string>,
  free: number,
  isAffordable: (task: Task) => boolean = () => true,
): readonly Task[] {
  if (free <= 0) return [];
  const { state, ready, rules } = world;
  const principals = principalsOf(worker);
  const fit = (task: Task): boolean =>
    !taken.has(task.id) &&
    isOf(task, runbook, world) &&
    fits(worker, task) &&
    principals.every((principal) => mayTake(state, task, principal, rules)) &&
    isAffordable(task);
  const closing = ready.closing(state, MOST_CLOSING).filter(fit).slice(0, free);
  if (closing.length === free) return closing;
  return [...closing, ...firstFitting(ready, state, free - closing.length, fit)];
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

/** Who would answer for a worker's work: the agent definitions that it runs, and, of a pipeline, the worker itself. */
function principalsOf(worker: WorkerPlan): readonly Principal[] {
  const { plan } = worker;
  const agents = plan.kind === 'pipeline' ? Object.values(plan.agents).map(({ name }) => name) : [];
  return [nameOf(worker), ...agents].map(agentPrincipal);
}

/** People know the agent by its name; a pipeline goes by the worker's. */
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
      principal: agentPrincipal(nameOf(worker)),
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
