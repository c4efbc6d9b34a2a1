import { outputFormatOf } from '../../../protocol/run-plan.ts';
import type { Outcome } from '../../../state/outcome.ts';
import { type AgentRun, isAttached, isAttaching } from '../../../state/runs/agent-run.ts';
import { decideAttachAgent, decideKillAgent, decideSendMessage } from '../../../state/runs/steer-agent.ts';
import {
  decideCancelPipeline,
  decideResumePipeline,
  decideRetryPipeline,
  findPipelineDecision,
} from '../../../state/runs/steer-pipeline.ts';
import type { State } from '../../../state/state.ts';
import { decideNoteTask } from '../../../state/tasks/note-task.ts';
import { decideOperateTask } from '../../../state/tasks/operate-task.ts';
import { isCancelled, type Task, taskStatus } from '../../../state/tasks/task.ts';
import { taskOutlook } from '../../../state/timeline/task-outlook.ts';
import type { SteeredKind } from './kinds.ts';

export interface RunRef {
  readonly kind: SteeredKind;
  readonly id: string;
}

/** An action that a person can take on a run. */
export interface SteerStep {
  readonly does:
    | 'message'
    | 'note'
    | 'answer'
    | 'stop'
    | 'attach'
    | 'retry'
    | 'run_again'
    | 'resume'
    | 'cancel'
    | 'unblock'
    | 'reinstate';
  readonly on: RunRef;
  /** The agent's name, if the action is about one. */
  readonly name?: string;
}

export interface Steering {
  readonly steps: readonly SteerStep[];
  /** The open decisions that the run waits for. */
  readonly decisionIds: readonly string[];
}

/** Asks the daemon's own rules which actions they would accept. The daemon decides again when an action is taken. */
export function viewSteering(state: State, { kind, id }: RunRef): Steering {
  switch (kind) {
    case 'agent': {
      const agent = state.agents.get(id);
      return agent === undefined ? NOTHING : { steps: agentSteps(state, agent), decisionIds: listed(agent.parked) };
    }
    case 'pipeline':
      return steerPipeline(state, id);
    case 'task': {
      const task = state.tasks.get(id);
      return task === undefined ? NOTHING : steerTask(state, task);
    }
  }
}

const NOTHING: Steering = { steps: [], decisionIds: [] };

function agentSteps(state: State, agent: AgentRun): readonly SteerStep[] {
  const { id, plan, parked } = agent;
  const on = { kind: 'agent', id } as const;
  const step = (does: SteerStep['does'], outcome: Outcome<unknown>): readonly SteerStep[] =>
    changes(outcome) ? [{ does, on, name: plan.name }] : [];
  const isTaken = isAttached(agent) || isAttaching(agent);
  return [
    ...step(
      parked === null ? 'message' : 'answer',
      decideSendMessage(state, { agentId: id, messageId: '?', text: '?' }),
    ),
    ...(isTaken || outputFormatOf(plan.run) === 'text'
      ? []
      : step('attach', decideAttachAgent(state, { agentId: id, by: '?' }))),
    ...step('stop', decideKillAgent(state, { agentId: id })),
  ];
}

function steerPipeline(state: State, id: string): Steering {
  const run = state.pipelines.get(id);
  if (run === undefined) return NOTHING;
  const on = { kind: 'pipeline', id } as const;
  const step = (does: SteerStep['does'], outcome: Outcome<unknown>): readonly SteerStep[] =>
    changes(outcome) ? [{ does, on }] : [];
  const agents = [...state.agents.values()].filter(
    ({ owner, outcome }) => owner?.pipelineId === id && outcome === null && run.outcome === null,
  );
  const steps = [
    ...step('resume', decideResumePipeline(state, { id })),
    ...step(run.outcome === null ? 'retry' : 'run_again', decideRetryPipeline(state, { id, newId: '?' })),
    // A waiting agent is handled by resuming or retrying the pipeline.
    ...agents.flatMap((agent) => agentSteps(state, agent).filter(({ does }) => does !== 'answer')),
    ...step('cancel', decideCancelPipeline(state, { id })),
  ];
  return { steps, decisionIds: listed(findPipelineDecision(state, run)?.id) };
}

function steerTask(state: State, task: Task): Steering {
  const { id } = task;
  const on = { kind: 'task', id } as const;
  const status = taskStatus(task);
  const agents = [...state.agents.values()].filter((agent) => agent.task?.task_id === id && agent.outcome === null);
  const isOver = status === 'done' || status === 'cancelled';
  const canCancel = changes(decideOperateTask(state, { id, action: 'cancel', reason: '?' }, NO_RULES));
  const steps: readonly SteerStep[] = [
    ...agents.flatMap((agent) => agentSteps(state, agent)),
    // A working agent receives a note as a message, so a note is offered only for the next session.
    ...(agents.length === 0 && changes(decideNoteTask(state, { task_id: id, text: '?' }))
      ? [{ does: 'note', on } as const]
      : []),
    ...(task.blocked === null || isCancelled(task) ? [] : [{ does: 'unblock', on } as const]),
    ...(isOver ? [{ does: 'reinstate', on } as const] : []),
    ...(canCancel ? [{ does: 'cancel', on } as const] : []),
  ];
  return { steps, decisionIds: isOver ? [] : taskOutlook(state, task).decisionIds };
}

/** Placeholder rules: a cancellation depends on no rule of the runbook. */
const NO_RULES = { ciGate: false, mergeGate: false };

/** Reports whether the outcome is accepted and changes the state. */
function changes(outcome: Outcome<unknown>): boolean {
  return outcome.ok && outcome.events.length > 0;
}

function listed(id: string | null | undefined): readonly string[] {
  return id === null || id === undefined ? [] : [id];
}
