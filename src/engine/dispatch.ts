import type { AgentPlan, Plan, Requirement, WorkerPlan } from '../protocol/run-plan.ts';
import { agentPrincipal } from '../state/caller.ts';
import { type Event, event, type EventType, type RecordedEvent } from '../state/event.ts';
import { findHost, hostOf } from '../state/fleet/fleet.ts';
import { hasLabels } from '../state/fleet/labels.ts';
import { mayWorkHere } from '../state/fleet/task-work.ts';
import { rulesInForce } from '../state/rules.ts';
import type { BudgetScope } from '../state/runs/budget-scope.ts';
import { budgetKey, type BudgetUse, findHighestUse, hasCapacity, isSpent } from '../state/runs/budget.ts';
import type { PipelineRun } from '../state/runs/pipeline-run.ts';
import { dayOf } from '../state/runs/spent.ts';
import { pipelineOfShell, type PipelineRunPlan } from '../state/runs/steer-pipeline.ts';
import type { State } from '../state/state.ts';
import { decideClaimTask } from '../state/tasks/claim-task.ts';
import type { Task } from '../state/tasks/task.ts';
import { taskScope } from '../state/families/task-family.ts';
import {
  findFittingTasks,
  fitsWorker,
  holderName,
  type PinnedWorker,
  servesGroup,
  workersInUse,
} from '../state/tasks/worker-fit.ts';
import { findWorkflowObstacle, workflowStartEvents } from '../state/workflow/start-workflow.ts';
import { openBudgetDecision } from './budgets.ts';
import type { EngineContext, WorkSearch } from './context.ts';
import { findQueued, requestAgent } from './steps.ts';

/**
 * Finds work for a host after another host recorded an entry that may have freed some. The host that recorded the entry
 * has filled its own room in the same commit.
 */
export function lookForWork(world: EngineContext): readonly Event[] {
  return fillCapacity({ ...world, rules: rulesInForce(world.state, world.rules) });
}

/**
 * Fills free room, once for all entries of a command that leave no work behind: an import of thousands of tasks looks
 * for work twice, not after every task.
 */
export function fillCapacity(world: EngineContext, isBarred: (task: Task) => boolean = () => false): Event[] {
  const { state, search } = world;
  if (search?.emptyAt === state.seq) return [];
  let hasBarred = false;
  const events = findNewWork(world, (task) => {
    const bars = isBarred(task);
    hasBarred ||= bars;
    return bars;
  });
  // A task that is barred after this entry may be free after the next one.
  if (search !== undefined && events.length === 0 && !hasBarred) search.emptyAt = state.seq;
  return events;
}

/** Entries that cannot give work to anyone. */
const WITHOUT_WORK: ReadonlySet<string> = new Set<EventType>(['TimerSet']);

/** Called with each entry, so that an entry without work does not cause another search. */
export function followSearch(search: WorkSearch, { type, seq }: Pick<RecordedEvent, 'type' | 'seq'>): void {
  if (search.emptyAt === seq - 1 && WITHOUT_WORK.has(type)) search.emptyAt = seq;
}

/**
 * First starts steps that wait for room, oldest first, then lets workers claim tasks. Fills only the
 * room of the deciding host, because another one may have work that this one cannot see. `isBarred`: tasks that no
 * worker may claim yet.
 */
function findNewWork(world: EngineContext, isBarred: (task: Task) => boolean): Event[] {
  const { state, rules, here } = world;
  const starting: AgentPlan[] = [];
  const started: Event[] = [];
  for (const { run, plan } of queuedSteps(world)) {
    if (run.step === null || !hasCapacity(state, plan, rules, starting, here)) continue;
    starting.push(plan);
    started.push(...requestAgent(world, run, run.step.name, plan));
  }
  return [...started, ...dispatchWorkers(world, starting, isBarred)];
}

function queuedSteps({ state, here }: EngineContext): { readonly run: PipelineRun; readonly plan: AgentPlan }[] {
  const queued: { readonly run: PipelineRun; readonly plan: AgentPlan }[] = [];
  for (const run of state.pipelines.values()) {
    const isElsewhere = here !== undefined && hostOf(run, state) !== here;
    const plan = isElsewhere ? undefined : findQueued(state, run);
    if (plan !== undefined) queued.push({ run, plan });
  }
  // The order of the map is not the order of arrival; see `keep-newest`.
  return queued.sort(
    (a, b) => compare(a.run.step?.since ?? '', b.run.step?.since ?? '') || compare(a.run.id, b.run.id),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Workers claim ready tasks that fit them, most urgent first, up to their concurrency. */
function dispatchWorkers(world: EngineContext, starting: AgentPlan[], isBarred: (task: Task) => boolean): Event[] {
  const { state } = world;
  const host = world.here === undefined ? undefined : findHost(state, world.here);
  if (world.here !== undefined && (host === undefined || host.draining)) return [];
  const workers = workersInUse(state, world.rules, (sha256) => world.ready.hasRunbook(state, sha256)).filter(
    ({ worker }) => host === undefined || hasLabels(host, worker),
  );
  if (workers.length === 0) return [];
  const taken = new Set<string>();
  /** Runs that are about to start, by worker. Workers of the same name in two runbooks share one concurrency limit. */
  const begun = new Map<string, number>();
  const events: Event[] = [];
  const gate = budgetGate(world);
  const mayBegin = (task: Task): boolean => !isBarred(task);
  const mayStartWorkflows = findWorkflowObstacle(state, world.rules) === undefined;
  const freeOf = (worker: WorkerPlan): number =>
    worker.plan.kind === 'workflow' && !mayStartWorkflows
      ? 0
      : worker.concurrency - countRuns(state, worker) - (begun.get(worker.name) ?? 0);
  if (gate.isDaySpent) {
    const isWanted = workers.some((each) => findWork(world, each, taken, freeOf(each.worker), mayBegin).length > 0);
    return isWanted ? gate.askForDay() : [];
  }
  for (const each of workers) {
    const { worker } = each;
    for (const task of findWork(world, each, taken, freeOf(worker), (task) => mayBegin(task) && gate.mayTake(task))) {
      const agent = agentFor(worker, task);
      if (agent !== undefined && !hasCapacity(state, agent, world.rules, starting, world.here)) break;
      const started = beginWork(world, worker, task);
      if (started.length === 0) continue;
      taken.add(task.id);
      begun.set(worker.name, (begun.get(worker.name) ?? 0) + 1);
      if (agent !== undefined) starting.push(agent);
      events.push(...started);
    }
  }
  return [...gate.askForTasks(), ...events];
}

/** A workflow counts until it is closed or cancelled, even while it waits for a person. */
function countRuns({ agents, pipelines, workersWorkflows }: State, { name, plan }: WorkerPlan): number {
  if (plan.kind === 'workflow') return [...workersWorkflows.values()].filter((worker) => worker === name).length;
  const open = (run: { readonly worker: string | null; readonly outcome: unknown }): boolean =>
    run.worker === name && run.outcome === null;
  const alone = [...agents.values()].filter((agent) => agent.owner === null && open(agent));
  const roots = [...pipelines.values()].filter((run) => run.parent === null && open(run));
  return alone.length + roots.length;
}

function findWork(
  world: EngineContext,
  worker: PinnedWorker,
  taken: ReadonlySet<string>,
  free: number,
  mayTake: (task: Task) => boolean,
): readonly Task[] {
  if (free <= 0) return [];
  const { state, ready, rules, here } = world;
  const fit = (task: Task): boolean =>
    !taken.has(task.id) && fitsWorker(state, worker, task, rules) && mayWorkHere(state, task, here) && mayTake(task);
  const find = (count: number, isToClose: boolean): readonly Task[] =>
    findFittingTasks(
      (most) =>
        ready.ofGroups(
          state,
          most,
          (group) => (group.phase === 'COMPLETED') === isToClose && servesGroup(worker.worker, group),
        ),
      count,
      fit,
    );
  const closing = find(free, true);
  return closing.length === free ? closing : [...closing, ...find(free - closing.length, false)];
}

/** Turns the task into a workflow, or claims it for a run. */
function beginWork(world: EngineContext, worker: WorkerPlan, task: Task): readonly Event[] {
  const { plan, name } = worker;
  if (plan.kind !== 'workflow') return claimAndStart(world, worker, plan, task);
  return workflowStartEvents(world.state, task, { mode: plan.mode, worker: name });
}

/** Records the claim and the run together, so that neither exists without the other. */
function claimAndStart(world: EngineContext, worker: WorkerPlan, own: Plan, task: Task): readonly Event[] {
  const id = world.newId();
  const chosen = assignedAgent(task);
  const plan: Plan = chosen === undefined ? own : { kind: 'agent', agent: chosen };
  const holder = chosen?.name ?? holderName(worker);
  const role =
    task.nextRole ?? agentFor(worker, task)?.role ?? (worker.roles?.length === 1 ? worker.roles[0] : undefined);
  const claim = decideClaimTask(
    world.state,
    {
      id: task.id,
      sessionId: id,
      holder,
      principal: agentPrincipal(holder),
      requires: owedFor(worker, chosen),
      ...(role === undefined ? {} : { role }),
    },
    world.rules,
    world.here,
  );
  if (!claim.ok) return [];
  const ref = { task_id: task.id, epoch: claim.answer.epoch, session_id: id };
  const shared = { task: ref, worker: worker.name };
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

/** The agent to which a person gave the task. */
function assignedAgent({ flow: { assigned } }: Task): AgentPlan | undefined {
  return assigned !== null && 'agent' in assigned ? assigned.agent : undefined;
}

/**
 * What the session owes: the requirements of every agent that works under its claim. An agent chosen by a person owes
 * the same as the worker's own agents, because passing work on must not loosen a rule.
 */
function owedFor({ plan }: WorkerPlan, chosen: AgentPlan | undefined): readonly Requirement[] {
  const owing: readonly Pick<AgentPlan, 'requires'>[] = agentsOf(plan);
  const all = [...(owing.length === 0 ? [{}] : owing), ...(chosen === undefined ? [] : [chosen])];
  return [...new Set(all.flatMap(({ requires }) => requires ?? OWED))];
}

function agentsOf(plan: WorkerPlan['plan']): readonly AgentPlan[] {
  if (plan.kind === 'pipeline') return Object.values(plan.agents);
  return plan.kind === 'agent' ? [plan.agent] : [];
}

const OWED: readonly Requirement[] = ['exit', 'result'];

/** The agent that a worker starts first for a task. */
function agentFor(worker: WorkerPlan, task: Task): AgentPlan | undefined {
  return assignedAgent(task) ?? agentOf(worker);
}

/** For a pipeline, the agent of its first agent step. */
function agentOf({ plan }: WorkerPlan): AgentPlan | undefined {
  if (plan.kind !== 'pipeline') return plan.kind === 'agent' ? plan.agent : undefined;
  const steps = plan.pipelines[plan.pipeline]?.steps ?? [];
  const first = steps.find(({ run }) => run.kind === 'agent')?.run;
  return first?.kind === 'agent' ? plan.agents[first.agent] : undefined;
}

/**
 * Bars all tasks while the day's budget is exhausted, and each task whose own budget is. Each exhausted budget opens
 * one decision.
 */
function budgetGate(world: EngineContext) {
  const { state, rules, at } = world;
  const day: BudgetScope = { kind: 'day', id: dayOf(at) };
  const dayUse = findHighestUse(state, day, rules, at);
  /** A use is the sum over a family of tasks, so it is computed once for all of them. */
  const uses = new Map<string, BudgetUse | undefined>();
  const useOf = (scope: BudgetScope): BudgetUse | undefined => {
    if (!uses.has(scope.id)) uses.set(scope.id, findHighestUse(state, scope, rules, at));
    return uses.get(scope.id);
  };
  return {
    isDaySpent: isSpent(dayUse),
    mayTake: (task: Task): boolean => !isSpent(useOf(taskScope(state, task.id))),
    askForDay: (): Event[] => {
      const isClosed = state.budgets.get(budgetKey(day))?.isClosed === true;
      return isClosed || dayUse === undefined ? [] : openBudgetDecision(world, day, dayUse).asked;
    },
    askForTasks: (): Event[] =>
      [...uses].flatMap(([id, use]) =>
        use === undefined || !isSpent(use) ? [] : openBudgetDecision(world, { kind: 'task', id }, use).asked,
      ),
  };
}
