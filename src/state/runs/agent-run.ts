import type { HandlerName, StopAction } from '../../protocol/run-plan.ts';
import type { Events } from '../event.ts';
import type { RunOutcome } from './run-event.ts';

/** A run of an agent, from its request until its process has gone and its outcome is known. */
export interface AgentRun extends Pick<Events['AgentRequested'], 'plan' | 'vars' | 'task' | 'worker'> {
  readonly id: string;
  readonly owner: { readonly pipelineId: string; readonly step: string } | null;
  /** Null if none is on record: see `hostOf`. */
  readonly host: string | null;
  readonly onStop: StopAction;
  /** The answer of a person for which it was started. */
  readonly note?: string;
  readonly requestedAt: string;
  readonly process: 'wanted' | 'running' | 'gone';
  /** Process number, starting at 1. */
  readonly start: number;
  /** The message of a resumed process; null for the first, which gets the prompt. */
  readonly resume: Pick<Events['AgentResumeRequested'], 'message' | 'append'> | null;
  readonly supervisor: string | null;
  readonly pid: string | null;
  /** The kind of the newest process; missing if there is no record. */
  readonly sandbox?: string;
  readonly access?: SandboxAccess;
  /** The newest process is isolated, and an earlier one was not. */
  readonly wasOpen?: true;
  readonly signal: Omit<Events['AgentSignalled'], 'agent_id'> | null;
  readonly parked: string | null;
  readonly killed: boolean;
  /** The newest time that a person attached, or asked to; null if nobody ever did. */
  readonly attach: Attachment | null;
  /** Null while the run continues. */
  readonly outcome: RunOutcome | null;
  readonly reason: string | null;
  /** The agent recovers from an API error: if its process exits now, it is resumed, and `on_dead` does not act. */
  readonly recovering: boolean;
  readonly limited: boolean;
  /** How often it has waited for a limit, since the run began or a person last resumed it. */
  readonly waits: number;
  /** How often each handler has acted, and when last, since the run began or a person last resumed it. */
  readonly tries: Readonly<Partial<Record<HandlerName, { readonly count: number; readonly at: string }>>>;
  /** How many stops were blocked, over all processes. Never reset. */
  readonly blocks: number;
  /** How often a handler has resumed it, since the run began or a person last resumed it. */
  readonly resumes: number;
  /** The process is being stopped, and the next one begins with this message. */
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
  /** Time spent working and waiting, without the current interval, which began at `since`. */
  readonly workMs: number;
  readonly waitMs: number;
  readonly since: string;
  /** Seq of the entry at which both the run and its process were over; null before that. */
  readonly over: number | null;
}

/** What a session's sandbox let it reach, in words. */
interface SandboxAccess {
  readonly network: string | null;
  readonly limits: string | null;
  readonly notes: readonly string[];
}

/** A person's use of an agent's conversation: process number `start` is theirs. */
export interface Attachment {
  readonly start: number;
  readonly by: string;
  readonly at: string;
  /** The decision that was open when they attached; their messages answer it. */
  readonly asked: string | null;
  /** A person who never came stays `wanted`. */
  readonly state: 'wanted' | 'there' | 'gone';
  readonly talked: boolean;
}

/** A person is to have the conversation: the process before theirs still has to stop. */
export function isAttaching({ attach, start, outcome }: AgentRun): boolean {
  return attach !== null && start < attach.start && outcome === null;
}

/** The process belongs to a person: Baton sends it nothing and does not judge it. */
export function isAttached({ attach, start, process }: AgentRun): boolean {
  return attach !== null && start === attach.start && process !== 'gone';
}

/** The same word in the CLI, on the page and in the API. */
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
