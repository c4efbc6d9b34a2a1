import type { PipelinePlan, Plan, StepPlan } from '../../protocol/run-plan.ts';
import type { RunOutcome, TaskRef } from './run-event.ts';
import type { Spending } from './spent.ts';

/** One pipeline under way, or how it ended. */
export interface PipelineRun {
  readonly id: string;
  readonly name: string;
  readonly vars: Readonly<Record<string, string>>;
  /** Of the root, where this one is nested. */
  readonly plan: Extract<Plan, { kind: 'pipeline' }>;
  readonly parent: { readonly pipelineId: string; readonly step: string } | null;
  readonly task: TaskRef | null;
  readonly worker: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Null before the first step and after the last. */
  readonly step: CurrentStep | null;
  /** How often each step was entered, and how it went last. */
  readonly history: Readonly<Record<string, StepRecord>>;
  /** `step` made it; empty where it is the parent's. */
  readonly workspace: { readonly path: string; readonly branch: string; readonly step: string } | null;
  readonly cancelling: string | null;
  /** What all agents in it, and in the pipelines inside it, have used. */
  readonly spent: Spending;
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  /** Seq of the entry since which it is over; null while it is not. */
  readonly over: number | null;
}

export interface CurrentStep {
  readonly name: string;
  readonly visit: number;
  readonly status: 'running' | 'waiting';
  readonly since: string;
  readonly reason: string | null;
  readonly decisionId: string | null;
  /** What runs it: an agent, a command, or a nested pipeline. */
  readonly agentId: string | null;
  readonly commandId: string | null;
  readonly childId: string | null;
}

export interface StepRecord {
  readonly visits: number;
  readonly retries: number;
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  readonly output: string | null;
  readonly exitCode: number | null;
  /** The command that ran it last: everything it printed is kept under this id. */
  readonly commandId: string | null;
}

export type PipelineStatus = 'running' | 'waiting' | RunOutcome;

export function pipelineStatus({ outcome, step }: PipelineRun): PipelineStatus {
  return outcome ?? (step?.status === 'waiting' ? 'waiting' : 'running');
}

/** The definition that a run keeps to; undefined only where a plan lacks what it names. */
export function findPipelinePlan({ plan, parent, name }: PipelineRun): PipelinePlan | undefined {
  return plan.pipelines[parent === null ? plan.pipeline : name];
}

export function findStepPlan(run: PipelineRun, step: string): StepPlan | undefined {
  return findPipelinePlan(run)?.steps.find(({ name }) => name === step);
}
