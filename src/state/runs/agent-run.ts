import type { Judge } from '../../protocol/handoff/judge.ts';
import type { HandlerName, StopAction } from '../../protocol/run-plan.ts';
import type { Events } from '../event.ts';
import type { RunOutcome } from './run-event.ts';

/** A run of an agent, from its request until its process has exited and its outcome is known. */
export interface AgentRun extends Pick<Events['AgentRequested'], 'plan' | 'vars' | 'task' | 'worker'> {
  readonly id: string;
  readonly owner: { readonly pipelineId: string; readonly step: string } | null;
  /** Null if none is recorded: see `hostOf`. */
  readonly host: string | null;
  readonly onStop: StopAction;
  /** A person's answer, for which the agent was started. */
  readonly note?: string;
  readonly requestedAt: string;
  readonly process: 'wanted' | 'running' | 'gone';
  /** Process number, starting at 1. */
  readonly start: number;
  /** The message of a resumed process; null for the first process, which gets the prompt. */
  readonly resume: Pick<Events['AgentResumeRequested'], 'message' | 'append'> | null;
  readonly supervisor: string | null;
  readonly pid: string | null;
  /** The kind of sandbox of the newest process; absent if there is no record. */
  readonly sandbox?: string;
  readonly access?: SandboxAccess;
  /** What is known about the newest process of a judging session; absent for other sessions. */
  readonly judge?: Judge;
  /** Set if the newest process is isolated but an earlier one was not. */
  readonly wasOpen?: true;
  readonly signal: Omit<Events['AgentSignalled'], 'agent_id'> | null;
  readonly parked: string | null;
  readonly killed: boolean;
  /** The newest attachment that a person made or requested; null if there was none. */
  readonly attach: Attachment | null;
  /** Null while the run continues. */
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  /**
   * Whether the agent recovers from an API error: if its process exits now, it is resumed, and `on_dead` does not act.
   */
  readonly recovering: boolean;
  readonly limited: boolean;
  /** How often the agent has waited for a limit since the run began or a person last resumed it. */
  readonly waits: number;
  /** How often each handler has acted, and when it last did, since the run began or a person last resumed it. */
  readonly tries: Readonly<Partial<Record<HandlerName, { readonly count: number; readonly at: string }>>>;
  /** How many stops were blocked, over all processes. Never reset. */
  readonly blocks: number;
  /** How often a handler has resumed the agent since the run began or a person last resumed it. */
  readonly resumes: number;
  /** Set while the process is being stopped: the message with which the next one begins. */
  readonly restart?: string;
  readonly exit:
    | (Pick<Events['AgentExited'], 'code' | 'signal' | 'output'> & {
        readonly timedOut: boolean;
        readonly blocksUsed: boolean;
        readonly at: string;
        readonly hosts?: Events['AgentExited']['hosts'];
      })
    | null;
  /** Totals; null if the client does not report usage. */
  readonly usage: Omit<Events['SessionUsed'], 'agent_id'> | null;
  /** Time spent working and waiting, without the current interval, which started at `since`. */
  readonly workMs: number;
  readonly waitMs: number;
  readonly since: string;
  /** Set if a person has acknowledged that it failed. */
  readonly acknowledged?: true;
  /** Seq of the entry at which both the run and its process had ended; null before that. */
  readonly over: number | null;
}

/** What a session's sandbox allowed it to access, in words. */
interface SandboxAccess {
  readonly network: string | null;
  readonly limits: string | null;
  readonly notes: readonly string[];
}

/** A user's attachment to an agent's conversation: process number `start` runs in their terminal. */
export interface Attachment {
  readonly start: number;
  readonly by: string;
  readonly at: string;
  /** The decision that was open when the user attached; their messages answer it. */
  readonly asked: string | null;
  /** Stays `wanted` if the user never connected. */
  readonly state: 'wanted' | 'there' | 'gone';
  readonly talked: boolean;
}

/** Reports whether a user is about to get the conversation: the previous process has not stopped yet. */
export function isAttaching({ attach, start, outcome }: AgentRun): boolean {
  return attach !== null && start < attach.start && outcome === null;
}

/** Reports whether the process runs in a user's terminal: Baton sends it nothing and does not judge it. */
export function isAttached({ attach, start, process }: AgentRun): boolean {
  return attach !== null && start === attach.start && process !== 'gone';
}

/** The status of an agent, with the same words in the CLI, on the page and in the API. */
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
