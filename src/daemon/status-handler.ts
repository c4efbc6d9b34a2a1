import { statusGet } from '../api/run-operations.ts';
import type { State } from '../state/state.ts';
import { statusOf } from '../state/task.ts';
import {
  blockedAttention,
  cancelledAttention,
  mainAttention,
  rulesAttention,
  runbookAttention,
  unservedAttention,
} from './attention.ts';
import { answerOf, handle } from './handler.ts';
import { agentView, decisionView, pipelineView } from './run-views.ts';

/** Everything that `baton status` shows, as of one moment. */
export const statusHandler = handle(statusGet, async ({ project, services }) => {
  const broken = runbookAttention(services.runbook);
  const differing = rulesAttention((await project.adoptions?.differences()) ?? []);
  const settled = await project.keeper.read(({ state }) => ({
    seq: state.seq,
    importing: project.own.progress,
    needs_you: [...state.decisions.values()].filter(({ result }) => result === null).map(decisionView),
    attention: [
      ...broken,
      ...differing,
      ...mainAttention(state),
      ...blockedAttention(state),
      ...cancelledAttention(state),
      ...unservedAttention(state, project.rules),
    ],
    pipelines: [...state.pipelines.values()]
      .filter(({ outcome }) => outcome === null)
      .map((run) => pipelineView(state, run, project.stateDir)),
    agents: [...state.agents.values()]
      .filter(({ over }) => over === null)
      .map((run) => agentView(run, project.stateDir)),
    workers: [...state.workers.values()].map(({ name, concurrency }) => ({
      name,
      concurrency,
      busy: countBusy(state, name),
    })),
    tasks: countTasks(state),
  }));
  return answerOf(settled, (status) => status);
});

function countBusy({ agents, pipelines }: State, worker: string): number {
  return [...agents.values(), ...pipelines.values()].filter((run) => run.worker === worker && run.outcome === null)
    .length;
}

function countTasks({ tasks }: State) {
  const counts = { todo: 0, in_progress: 0, blocked: 0, done: 0, cancelled: 0 };
  for (const task of tasks.values()) counts[statusOf(task)] += 1;
  return counts;
}
