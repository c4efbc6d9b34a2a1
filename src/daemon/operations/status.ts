import {
  countAtWork,
  judgeAllClear,
  type LoopMeasure,
  proveAgents,
  proveCommands,
  proveLoop,
  provePeople,
  provePhases,
  proveStore,
  type UnservedTask,
} from '../../api/all-clear.ts';
import type { Answer } from '../../api/answer.ts';
import { costsGet } from '../../api/operations/project.ts';
import { statusGet } from '../../api/operations/runs.ts';
import type { StatusView } from '../../api/run-views.ts';
import { PRICES_AS_OF } from '../../protocol/price.ts';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { DEFAULT_LIMITS } from '../../runbook/shape/limits-shape.ts';
import { type Rules, rulesFor, rulesInForce } from '../../state/rules.ts';
import type { AgentStatus } from '../../state/runs/agent-run.ts';
import type { BudgetUse } from '../../state/runs/budget.ts';
import { findModelsPricedByDefault, listCosts } from '../../state/runs/costs.ts';
import { countGates } from '../../state/runs/effect.ts';
import { addSpending, NO_SPENDING } from '../../state/runs/spent.ts';
import type { State } from '../../state/state.ts';
import { taskStatus } from '../../state/tasks/task.ts';
import { listUnserved } from '../../state/tasks/worker-fit.ts';
import { findTakenOverBy } from '../../state/workflow/flow.ts';
import { readRestarts } from '../../watchdog/restart-record.ts';
import { SERVER_LIMITS } from '../limits.ts';
import { explainUnknown } from '../loop/speculative-state.ts';
import type { Project } from '../project/project.ts';
import { measureSilence, type SilenceClocks } from '../project/silence.ts';
import {
  type Attention,
  blockedAttention,
  cancelledAttention,
  crashAttention,
  failedAttention,
  frozenAttention,
  mainAttention,
  outboxAttention,
  repositoryAttention,
  rulesAttention,
  runbookAttention,
  stuckAttention,
  unmovedAttention,
  workersAttention,
} from './attention.ts';
import { answerFor, type Call, handlerFor, type Refused } from './call.ts';
import { fleetAttention, pushAttention } from './fleet/attention.ts';
import { createFleetView, type FleetMeasures } from '../views/fleet-view.ts';
import { agentView, decisionView, pipelineView } from '../views/run-views.ts';
import { claimCommand, listWorkflows } from '../views/task-view.ts';

/** Everything that `baton status` shows, at one moment. A project that does not answer in time is reported as busy. */
export const statusHandler = handlerFor(statusGet, async (call) => readStatusWithin(call, SERVER_LIMITS.statusMs));

export async function readStatusWithin(
  call: Pick<Call, 'project' | 'services'>,
  limitMs: number,
): Promise<Answer<StatusView>> {
  const late = Promise.withResolvers<Answer<StatusView>>();
  const timer = setTimeout(() => late.resolve(statusBusy(limitMs)), limitMs);
  try {
    return await Promise.race([readStatus(call), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function readStatus({ project, services }: Pick<Call, 'project' | 'services'>): Promise<Answer<StatusView>> {
  const now = services.now();
  const probed = await project.storeHealth();
  const crashed = crashAttention(readRestarts(project.stateDir), Date.now());
  const missing = await repositoryAttention(project.path);
  const hindered = outboxAttention(project.messagesBlockedMs, project.stateDir);
  const broken = runbookAttention(services.runbook);
  const differing = rulesAttention(
    (await project.adoptions?.readDifferences()) ?? [],
    services.rulebook.inForce === undefined,
  );
  const measures = project.fleet?.measures();
  const settled = await project.commandLoop.read(({ state }) =>
    statusView(state, {
      project,
      // A commit may have failed since the probe.
      store: probed.writable ? project.ledger.health : probed,
      attention: [...crashed, ...missing, ...hindered, ...broken, ...differing],
      loop: services.loop,
      measures,
      clocks: {
        lastReports: project.lastReports,
        silenceMs: services.rulebook.runbookFor(null).limits?.silenceMs ?? DEFAULT_LIMITS.silenceMs,
        nowMs: services.monotonicMs(),
        now,
      },
    }),
  );
  return answerFor(settled, (status) => ({ ...status, at: now.toISOString() }));
}

function statusBusy(limitMs: number): Refused {
  const message = `the project has not answered within ${limitMs / 1000} s: its ledger or its repository is slow or locked`;
  const hint =
    'Find the program that locks the ledger or git; see also daemon.log in the state folder. Then: baton status';
  return { ok: false, error: { code: 'project-busy', message, hint } };
}

interface StatusMeasures {
  readonly project: Pick<Project, 'stateDir' | 'own' | 'rules'>;
  readonly store: StoreHealth;
  readonly attention: readonly Attention[];
  readonly loop: LoopMeasure;
  readonly measures: FleetMeasures | undefined;
  readonly clocks: SilenceClocks;
}

function statusView(state: State, measured: StatusMeasures): Omit<StatusView, 'at'> {
  const { project, store, attention, loop, measures, clocks } = measured;
  const { stateDir, rules } = project;
  const fleet = measures === undefined ? undefined : createFleetView(state, measures);
  const decisions = [...state.decisions.values()].filter(({ result }) => result === null).map(decisionView);
  const pipelines = [...state.pipelines.values()]
    .filter(({ outcome }) => outcome === null)
    .map((run) => pipelineView(state, run, stateDir));
  const runs = [...state.agents.values()].filter(({ over }) => over === null);
  const agents = runs.map((run) => agentView(state, run, stateDir));
  const running =
    countGates(state) +
    countAtWork([
      ...pipelines.map(({ status, parent }) => ({ status, within: parent?.pipeline_id ?? null })),
      ...agents.map(({ status, pipeline_id: within }) => ({ status, within })),
    ]);
  const stuck = stuckAttention(pipelines, agents, new Set(decisions.map(({ id }) => id)));
  const { reasons, ...verdict } = judgeAllClear(
    {
      store: proveStore(store),
      commands: proveCommands(explainUnknown(state)),
      loop: proveLoop(loop),
      people: provePeople(decisions, [
        ...attention,
        ...mainAttention(state),
        ...workersAttention(state, rules),
        ...stuck,
        ...failedAttention(state),
        ...frozenAttention(state, (id) => clocks.lastReports.isFrozen(id, clocks.nowMs)),
        ...blockedAttention(state),
        ...cancelledAttention(state),
        ...unmovedAttention(state, rules),
        ...(fleet === undefined ? [] : [...fleetAttention(fleet), ...pushAttention(state)]),
      ]),
      agents: proveAgents(
        agents
          // Only an agent's own host gets its reports. A silent host is a separate reason.
          .filter(({ status, host = fleet?.here }) => COUNTS_AS_RUNNING.has(status) && host === fleet?.here)
          .map(({ id, name, task_id: taskId }) => ({ id, name, taskId })),
        (id) => measureSilence(state, id, clocks),
      ),
      phases: provePhases(unservedView(state, rules)),
    },
    running,
  );
  return {
    seq: state.seq,
    importing: project.own.progress,
    ...verdict,
    running,
    needs_you: decisions.filter(({ answer }) => answer === null),
    answered: decisions.filter(({ answer }) => answer !== null),
    attention: reasons.filter(({ kind }) => kind !== 'decision'),
    pipelines,
    agents,
    workflows: listWorkflows(state, rulesInForce(state, rules), clocks.now.toISOString()),
    workers: [...state.workers.values()].map(({ name, concurrency }) => ({
      name,
      concurrency,
      busy: countBusy(state, name),
    })),
    tasks: countTasks(state),
    store,
    ...(fleet === undefined ? {} : { fleet }),
  };
}

/** Statuses with a process that runs or should run. An escalated agent waits, with or without a process. */
const COUNTS_AS_RUNNING: ReadonlySet<AgentStatus> = new Set(['running', 'starting', 'attached', 'leaving']);

function countBusy({ agents, pipelines, workersWorkflows }: State, worker: string): number {
  const runs = [...agents.values(), ...pipelines.values()].filter(
    (run) => run.worker === worker && run.outcome === null,
  );
  return runs.length + [...workersWorkflows.values()].filter((starter) => starter === worker).length;
}

function countTasks({ tasks }: State) {
  const counts = { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 };
  for (const task of tasks.values()) counts[taskStatus(task)] += 1;
  return counts;
}

export function unservedView(state: State, rules: Rules): readonly UnservedTask[] {
  const inForce = rulesInForce(state, rules);
  return listUnserved(state, rules).map(({ task, missing }) => {
    const { id, title, phase, nextRole: role } = task;
    const takenBy = findTakenOverBy(task.flow) ?? null;
    const isMerge = takenBy === null && phase === 'READY_FOR_MERGE' && rulesFor(task, inForce).mergeGate;
    const next = isMerge ? `baton merge ${shellWord(id)}` : claimCommand(task);
    return { id, title, phase, role, takenBy, next, ...(missing === null ? {} : { missingLabels: missing }) };
  });
}

export const costsHandler = handlerFor(costsGet, async ({ project, input, services }) => {
  const { by = 'agent' } = input;
  const at = services.now().toISOString();
  const settled = await project.commandLoop.read(({ state, rules }) => ({
    rows: listCosts(state, by, rules, at),
    listed: findModelsPricedByDefault(state, rules),
  }));
  return answerFor(settled, ({ rows, listed }) => ({
    by,
    at,
    rows: rows.map(({ name, spent, budget }) => ({
      name,
      ...addSpending(NO_SPENDING, spent),
      budget: budget && budgetView(budget),
    })),
    list_prices: { as_of: PRICES_AS_OF, models: listed },
    total: rows.reduce((sum, { spent }) => addSpending(sum, spent), NO_SPENDING),
  }));
});

/** In tokens, thousandths of a cent, or milliseconds. */
function budgetView({ measure, used, limit }: BudgetUse) {
  return { measure, used, limit, percent: Math.floor((used / limit) * 100) };
}
