import type { AgentPlan, HandlerName, StopAction } from '../../protocol/run-plan.ts';
import type { RunOutcome, TaskRef } from './run-event.ts';

/** One agent at work, from the moment it is wanted until its process has gone and nobody waits for it. */
export interface AgentRun {
  readonly id: string;
  readonly plan: AgentPlan;
  readonly owner: { readonly pipelineId: string; readonly step: string } | null;
  readonly vars: Readonly<Record<string, string>>;
  readonly task: TaskRef | null;
  readonly worker: string | null;
  readonly onStop: StopAction;
  readonly requestedAt: string;
  /** Of its process. */
  readonly process: 'wanted' | 'running' | 'gone';
  /** The how-manieth process this is, from 1. */
  readonly start: number;
  readonly supervisor: string | null;
  readonly pid: string | null;
  readonly signal: { readonly kind: 'complete' | 'escalate'; readonly message: string | null } | null;
  /** The decision it is parked for. */
  readonly parked: string | null;
  readonly killed: boolean;
  /** How the run ended for whoever waited for it; null while somebody does. */
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  /** How often each handler has acted since the agent last made progress, and when it last did. */
  readonly tries: Readonly<Partial<Record<HandlerName, { readonly count: number; readonly at: string }>>>;
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly timedOut: boolean;
    readonly at: string;
  } | null;
}

/** The word for people: the same in the CLI, on the page and in the API. */
export type AgentStatus = 'starting' | 'running' | 'escalated' | 'leaving' | 'done' | 'failed' | 'cancelled';

export function statusOf(run: AgentRun): AgentStatus {
  if (run.outcome !== null) return run.process === 'running' ? 'leaving' : run.outcome;
  if (run.parked !== null) return 'escalated';
  return run.process === 'wanted' ? 'starting' : 'running';
}
