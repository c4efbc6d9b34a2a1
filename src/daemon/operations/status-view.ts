import { countAtWork, judgeAllClear } from '../../api/all-clear.ts';
import { proveAgents, proveLoop, provePeople, provePhases, proveStore, type LoopMeasure } from '../../api/proofs.ts';
import type { StoreHealth } from '../../protocol/resource-faults.ts';
import type { AgentStatus } from '../../state/runs/agent-run.ts';
import type { State } from '../../state/state.ts';
import { taskStatus } from '../../state/tasks/task.ts';
import { blockedAttention, cancelledAttention, mainAttention, stuckAttention, type Attention } from './attention.ts';
import { measureSilence, type SilenceClocks } from '../project/silence.ts';
import type { Project } from '../project/project.ts';
import { agentView, decisionView, pipelineView } from './run-views.ts';
import { unservedView } from './unserved-view.ts';

/** What is measured outside of the state. */
export interface StatusMeasures {
  readonly project: Pick<Project, 'stateDir' | 'own' | 'rules'>;
  readonly store: StoreHealth;
  /** About the runbook. */
  readonly attention: readonly Attention[];
  readonly loop: LoopMeasure;
  readonly clocks: SilenceClocks;
}

/** The status of a project: the lists, and the verdict that every surface shows as it stands. */
export function statusView(state: State, { project, store, attention, loop, clocks }: StatusMeasures) {
  const { stateDir, rules } = project;
  const decisions = [...state.decisions.values()].filter(({ result }) => result === null).map(decisionView);
  const pipelines = [...state.pipelines.values()]
    .filter(({ outcome }) => outcome === null)
    .map((run) => pipelineView(state, run, stateDir));
  const runs = [...state.agents.values()].filter(({ over }) => over === null);
  const agents = runs.map((run) => agentView(run, stateDir));
  const running = countAtWork([
    ...pipelines.map(({ status, parent }) => ({ status, within: parent?.pipeline_id ?? null })),
    ...agents.map(({ status, pipeline_id: within }) => ({ status, within })),
  ]);
  const stuck = stuckAttention(pipelines, agents, new Set(decisions.map(({ id }) => id)));
  const { reasons, ...verdict } = judgeAllClear(
    {
      store: proveStore(store),
      loop: proveLoop(loop),
      people: provePeople(decisions, [
        ...attention,
        ...mainAttention(state),
        ...stuck,
        ...blockedAttention(state),
        ...cancelledAttention(state),
      ]),
      agents: proveAgents(
        agents
          .filter(({ status }) => COUNTS_AS_RUNNING.has(status))
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
    needs_you: decisions,
    attention: reasons.filter(({ kind }) => kind !== 'decision'),
    pipelines,
    agents,
    workers: [...state.workers.values()].map(({ name, concurrency }) => ({
      name,
      concurrency,
      busy: countBusy(state, name),
    })),
    tasks: countTasks(state),
    store,
  };
}

/** Those whose process runs or should run. One that is escalated waits for its decision, with or without a process. */
const COUNTS_AS_RUNNING: ReadonlySet<AgentStatus> = new Set(['running', 'starting', 'attached', 'leaving']);

function countBusy({ agents, pipelines }: State, worker: string): number {
  return [...agents.values(), ...pipelines.values()].filter((run) => run.worker === worker && run.outcome === null)
    .length;
}

function countTasks({ tasks }: State) {
  const counts = { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 };
  for (const task of tasks.values()) counts[taskStatus(task)] += 1;
  return counts;
}
