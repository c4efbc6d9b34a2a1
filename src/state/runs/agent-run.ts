import type { AgentPlan, HandlerName, StopAction } from '../../protocol/run-plan.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';
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
  /** What a resumed process is told; null for the first one, which gets the prompt. */
  readonly resume: { readonly message: string | null; readonly append: boolean } | null;
  readonly supervisor: string | null;
  readonly pid: string | null;
  /** The sandbox of its newest process; left out: none. */
  readonly sandbox?: string;
  readonly signal: { readonly kind: 'complete' | 'escalate'; readonly message: string | null } | null;
  /** The decision it is parked for. */
  readonly parked: string | null;
  readonly killed: boolean;
  /** The newest time that a person had it in their terminal, or wants it there; null where nobody ever did. */
  readonly attach: Attachment | null;
  /** How the run ended for whoever waited for it; null while somebody does. */
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  /** An API error is being got over: if the process leaves now, it is started again, and that is no death. */
  readonly recovering: boolean;
  /** An API has set a limit, and it waits until that is lifted. */
  readonly limited: boolean;
  /** How often it has waited for that, since the run began or a person last set it going again. */
  readonly waits: number;
  /** How often each handler has acted since the run began, or a person last set it going again, and when it last did. */
  readonly tries: Readonly<Partial<Record<HandlerName, { readonly count: number; readonly at: string }>>>;
  /** How many of its stops were blocked, over all its processes. Nothing resets it. */
  readonly blocks: number;
  /** How often a handler has resumed it, since the run began or a person last set it going again. */
  readonly resumes: number;
  /** Its process is being ended, and its next one begins with this message. */
  readonly restart?: string;
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly timedOut: boolean;
    readonly blocksUsed: boolean;
    readonly output: string | null;
    readonly at: string;
  } | null;
  /** What it has used so far; null where its client does not say. */
  readonly usage: Omit<WorkflowEvents['SessionUsed'], 'agent_id'> | null;
  /** How long it has worked, and waited for people and limits, up to `since`: then it began what it does now. */
  readonly workMs: number;
  readonly waitMs: number;
  readonly since: string;
  /** Seq of the entry since which it is over, process and all; null while it is not. */
  readonly over: number | null;
}

/** A person and the conversation of an agent: the process with the number `start` is theirs. */
export interface Attachment {
  readonly start: number;
  readonly by: string;
  /** When they asked for it. */
  readonly at: string;
  /** The decision that was open when they came; what they say answers it. */
  readonly asked: string | null;
  /** Somebody who never came is still only wanted. */
  readonly state: 'wanted' | 'there' | 'gone';
  readonly talked: boolean;
}

/** Somebody is to have it: the process before theirs still has to stop. */
export function isAttaching({ attach, start, outcome }: AgentRun): boolean {
  return attach !== null && start < attach.start && outcome === null;
}

/** Its process is a person's: nobody else says anything to it, or wonders what it does. */
export function isAttached({ attach, start, process }: AgentRun): boolean {
  return attach !== null && start === attach.start && process !== 'gone';
}

/** The word for people: the same in the CLI, on the page and in the API. */
export type AgentStatus =
  | 'starting'
  | 'running'
  | 'attached'
  | 'escalated'
  | 'leaving'
  | 'done'
  | 'failed'
  | 'cancelled';

export function agentStatus(run: AgentRun): AgentStatus {
  if (run.outcome !== null) return run.process === 'running' ? 'leaving' : run.outcome;
  if (isAttached(run)) return 'attached';
  if (run.parked !== null) return 'escalated';
  return run.process === 'wanted' ? 'starting' : 'running';
}
