import type { WorkerPlan } from '../../protocol/run-plan.ts';
import type { BudgetRecord } from './budget-scope.ts';
import type { Spending } from './spent.ts';
import type { AgentRun } from './agent-run.ts';
import type { Decision } from './decision.ts';
import type { Effect } from './effect.ts';
import type { PipelineRun } from './pipeline-run.ts';
import type { TaskFamily } from '../families/task-family.ts';

/** The values are immutable; only the maps change. */
export interface Runs {
  readonly agents: Map<string, AgentRun>;
  readonly pipelines: Map<string, PipelineRun>;
  readonly decisions: Map<string, Decision>;
  readonly effects: Map<string, Effect>;
  readonly workers: Map<string, WorkerPlan>;
  /** Spending by agent, pipeline, task, day and model. */
  readonly accounts: Map<string, Spending>;
  readonly budgets: Map<string, BudgetRecord>;
  /** The tasks that sessions made below each task of a person. They share its budget: see `families/task-family.ts`. */
  readonly families: Map<string, TaskFamily>;
}

export function emptyRuns(newMap: <V>() => Map<string, V>): Runs {
  return {
    agents: newMap(),
    pipelines: newMap(),
    decisions: newMap(),
    effects: newMap(),
    workers: newMap(),
    accounts: newMap(),
    budgets: newMap(),
    families: newMap(),
  };
}
