import type { AgentPlan, Requirement, WorkerPlan } from '../protocol/run-plan.ts';
import { decideClaimTask } from '../state/tasks/claim-task.ts';
import { event, type Event } from '../state/event.ts';
import { findFittingTasks } from '../state/tasks/first-fitting.ts';
import { agentPrincipal } from '../state/principal.ts';
import { hasCapacity } from '../state/runs/capacity.ts';
import type { PipelineRunPlan } from '../state/runs/start-run.ts';
import { pipelineOfShell } from '../state/runs/start-run.ts';
import type { State } from '../state/state.ts';
import type { Task } from '../state/tasks/task.ts';
import { fitsWorker, holderName, workersInUse, type PinnedWorker } from '../state/tasks/worker-fit.ts';
import { budgetGate } from './budget-gate.ts';
import type { EngineContext } from './context.ts';

/** Workers claim what is ready and fits them, most urgent first, as many as they may run at once. */
export function dispatchWorkers(world: EngineContext, starting: AgentPlan[]): Event[] {
  const { state } = world;
  const workers = workersInUse(state, world.rules, (sha256) => world.ready.hasRunbook(state, sha256));
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
      if (agent !== undefined && !hasCapacity(state, agent, world.rules, starting)) break;
      const claimed = claimAndStart(world, worker, task);
      if (claimed.length === 0) continue;
      taken.add(task.id);
      begun.set(worker.name, (begun.get(worker.name) ?? 0) + 1);
      if (agent !== undefined) starting.push(agent);
      events.push(...claimed);
    }
  }
  return [...gate.askForTasks(), ...events];
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
  world: EngineContext,
  worker: PinnedWorker,
  taken: ReadonlySet<string>,
  free: number,
  isAffordable: (task: Task) => boolean = () => true,
): readonly Task[] {
  if (free <= 0) return [];
  const { state, ready, rules } = world;
  const fit = (task: Task): boolean =>
    !taken.has(task.id) && fitsWorker(state, worker, task, rules) && isAffordable(task);
  const closing = ready.closing(state, MAX_CLOSING_TASKS).filter(fit).slice(0, free);
  if (closing.length === free) return closing;
  return [...closing, ...findFittingTasks(ready, state, free - closing.length, fit)];
}

/** They are closed as they come, so there are never many. */
const MAX_CLOSING_TASKS = 1000;

/** The claim and the run in one go: there is no moment in which one is there without the other. */
function claimAndStart(world: EngineContext, worker: WorkerPlan, task: Task): readonly Event[] {
  const id = world.newId();
  const role = task.nextRole ?? agentOf(worker)?.role ?? (worker.roles?.length === 1 ? worker.roles[0] : undefined);
  const claim = decideClaimTask(
    world.state,
    {
      id: task.id,
      sessionId: id,
      holder: holderName(worker),
      principal: agentPrincipal(holderName(worker)),
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

const OWED_MESSAGES: readonly Requirement[] = ['exit', 'result'];

/** What the session owes; the thought record comes on top where it committed anything, which only its end shows. */
function owedBy(worker: WorkerPlan): readonly Requirement[] {
  return agentOf(worker)?.requires ?? OWED_MESSAGES;
}

/** The agent that a worker starts first; of a pipeline the one whose step comes first. */
function agentOf({ plan }: WorkerPlan): AgentPlan | undefined {
  if (plan.kind !== 'pipeline') return plan.kind === 'agent' ? plan.agent : undefined;
  const steps = plan.pipelines[plan.pipeline]?.steps ?? [];
  const first = steps.find(({ run }) => run.kind === 'agent')?.run;
  return first?.kind === 'agent' ? plan.agents[first.agent] : undefined;
}
