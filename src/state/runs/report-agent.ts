import type { TokenCounts } from '../../protocol/price.ts';
import type { AgentError } from '../../protocol/run-plan.ts';
import type { Caller } from '../caller.ts';
import { event, type Event, type EventOf } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import type { WorkflowEvents } from '../workflow/workflow-event.ts';
import { type AgentRun, isAttached, isAttaching } from './agent-run.ts';
import { excerptEnd } from './excerpt.ts';
import { findAgent, findReportedAgent } from './find-run.ts';
import { findSilenceDecision } from './open-decisions.ts';
import { type CountedUsage, isWorthRecording, priceRequests, priceUsage } from './usage.ts';

/** A report about an agent, mostly by its supervisor. */
export type AgentObservation =
  | { readonly kind: 'started'; readonly start: number; readonly supervisor: string; readonly process: string }
  | {
      readonly kind: 'exited';
      readonly start: number;
      readonly code: number | null;
      readonly signal: string | null;
      readonly timed_out: boolean;
      readonly blocks_used: boolean;
      readonly output: string | null;
    }
  | { readonly kind: 'attached'; readonly start: number; readonly by: string }
  | ({ readonly kind: 'detached' } & Pick<Detached, 'start' | 'how' | 'talked'>)
  | { readonly kind: 'idle'; readonly why: 'stop' | 'waiting' | 'quiet' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'blocked'; readonly blocks: number }
  /** No event in a turn, or a tool call that stays open; and the end of that. */
  | {
      readonly kind: 'silent';
      readonly start: number;
      readonly what: 'turn' | 'tool';
      readonly for_ms: number;
      readonly tool: string | null;
    }
  | { readonly kind: 'heard'; readonly start: number }
  | { readonly kind: 'prompted'; readonly prompt: string }
  | ({ readonly kind: 'used' } & Omit<
      WorkflowEvents['SessionUsed'],
      'agent_id' | 'unpriced_tokens' | 'reserved_tokens' | 'reserved_millicents'
    > &
      Pick<CountedUsage, 'open'> & {
        /** An estimate for requests in progress. */
        readonly reserved?: TokenCounts;
        /** Record in any case, not only if a budget moves by a step. */
        readonly isDue?: boolean;
      })
  | {
      readonly kind: 'errored';
      readonly error: AgentError;
      readonly message: string;
      readonly reset_at: string | null;
    };

type Detached = EventOf<'AgentDetached'>['data'];

export interface ReportAgent {
  /** Missing: the caller's own. */
  readonly agentId?: string;
  readonly report: AgentObservation;
  /** The time of the entry, for the budget of the day. */
  readonly at?: string;
}

/** Agents and people may report idle and stop; all other reports come from supervisors. */
export function decideReportAgent(
  state: State,
  { agentId, report, at }: ReportAgent,
  caller: Caller,
  rules: Rules,
): Outcome<null> {
  const isWatcher = caller.kind === 'supervisor' || caller.kind === 'system';
  if (!isWatcher && report.kind !== 'idle' && report.kind !== 'stop') {
    const message = `the token of this ${caller.kind} does not allow the report ${report.kind}`;
    return refusal('forbidden', message, "It takes the token of the agent's supervisor.");
  }
  const speaker = findReportedAgent(state, caller, agentId);
  if (!speaker.ok) return speaker;
  if (speaker.answer === undefined)
    return refusal('no-such-agent', 'no agent is named', 'Name one: --agent ID, or BATON_AGENT_ID.');
  if (report.kind === 'used') return decided(usageEvents(state, speaker.answer, report, rules, at), null);
  if (report.kind === 'blocked') return decided(blockEvents(speaker.answer, report), null);
  if (report.kind === 'heard') return decided(heardEvents(state, speaker.answer, report), null);
  if (report.kind === 'attached' || report.kind === 'detached')
    return decided(attachmentEvents(speaker.answer, report), null);
  return report.kind === 'started' || report.kind === 'exited'
    ? decideProcess(speaker.answer, report)
    : decided(workEvents(speaker.answer, report), null);
}

type ProcessObservation = Extract<AgentObservation, { kind: 'started' | 'exited' }>;

/** Each process number starts and ends once: repeated or older reports change nothing. */
function decideProcess(agent: AgentRun, report: ProcessObservation): Outcome<null> {
  const { start } = report;
  if (start > agent.start) {
    const message = `agent ${agent.id} has had ${agent.start} starts, not ${start}`;
    return refusal('unknown-start', message, 'This is a mistake in whoever reports.');
  }
  const isNews = start === agent.start && agent.process !== 'gone';
  if (!isNews || (report.kind === 'started' && agent.process === 'running')) return decided([], null);
  return decided([processEvent(agent.id, report)], null);
}

function processEvent(agent_id: string, report: ProcessObservation): Event {
  if (report.kind === 'started') {
    const { start, supervisor, process } = report;
    return event('AgentStarted', { agent_id, start, supervisor, process });
  }
  const { kind: _, output, ...exit } = report;
  return event('AgentExited', { agent_id, ...exit, output: output === null ? null : excerptEnd(output) });
}

type BlockObservation = Extract<AgentObservation, { kind: 'blocked' }>;

/** The count only grows: a late or repeated report changes nothing. */
function blockEvents({ id: agent_id, blocks }: AgentRun, report: BlockObservation): Event[] {
  return report.blocks > blocks ? [event('AgentBlocked', { agent_id, blocks: report.blocks })] : [];
}

type HeardObservation = Extract<AgentObservation, { kind: 'heard' }>;

/** Recorded only if a decision about the agent's silence is open and its process runs. */
function heardEvents(state: State, agent: AgentRun, report: HeardObservation): Event[] {
  const isAwaited = findSilenceDecision(state, agent) !== undefined;
  const isThere = agent.process === 'running' && agent.start === report.start;
  return isAwaited && isThere ? [event('AgentHeard', { agent_id: agent.id })] : [];
}

type AttachmentObservation = Extract<AgentObservation, { kind: 'attached' | 'detached' }>;

function attachmentEvents({ id: agent_id, attach }: AgentRun, report: AttachmentObservation): Event[] {
  const { start } = report;
  if (attach === null || attach.start !== start || attach.state === 'gone') return [];
  if (report.kind === 'attached')
    return attach.state === 'wanted' ? [event('AgentAttached', { agent_id, start, by: report.by })] : [];
  const { how, talked } = report;
  return [event('AgentDetached', { agent_id, start, by: attach.by, how, talked })];
}

type UsageObservation = Extract<AgentObservation, { kind: 'used' }>;

/**
 * Also after the end of the run: its last usage counts. Supervisors report at each tool call; an entry is recorded when a turn ends, after
 * a while, or when a budget moves by a step.
 */
function usageEvents(state: State, agent: AgentRun, report: UsageObservation, rules: Rules, at = ''): Event[] {
  const { id: agent_id, usage } = agent;
  const { prices = [] } = rules;
  const { kind: _, open: __, reserved = NO_TOKENS, isDue = true, ...counted } = report;
  const reserved_tokens = reserved.input + reserved.output + reserved.cached;
  const reserved_millicents = priceRequests(report.model, reserved, prices);
  const requests = reserved_tokens === 0 ? {} : { reserved_tokens, reserved_millicents };
  const used = { ...counted, ...priceUsage(usage, report, prices), ...requests };
  const known: object = { reserved_tokens: undefined, reserved_millicents: undefined, ...usage };
  const isNews = usage === null || Object.entries({ ...known, ...used }).some(([n, v]) => Reflect.get(usage, n) !== v);
  const isWanted = isDue || usage?.turns !== used.turns || isWorthRecording(state, agent, used, rules, at);
  return isNews && isWanted ? [event('SessionUsed', { agent_id, ...used })] : [];
}

const NO_TOKENS: TokenCounts = { input: 0, output: 0, cached: 0 };

/** Reports about an agent whose run has ended, that is parked or attached change nothing. */
function workEvents(
  agent: AgentRun,
  report: Exclude<
    AgentObservation,
    ProcessObservation | UsageObservation | AttachmentObservation | BlockObservation | HeardObservation
  >,
): Event[] {
  const { id: agent_id, outcome, parked, process } = agent;
  if (outcome !== null || parked !== null || process === 'gone') return [];
  if (isAttached(agent) || isAttaching(agent)) return [];
  switch (report.kind) {
    case 'idle':
      return [event('AgentIdle', { agent_id, why: report.why })];
    case 'stop':
      return [event('AgentStop', { agent_id })];
    case 'silent': {
      const { start, what, for_ms, tool } = report;
      return start === agent.start ? [event('AgentSilent', { agent_id, what, for_ms, tool })] : [];
    }
    case 'prompted':
      return [event('AgentPrompted', { agent_id, prompt: excerptEnd(report.prompt) })];
    case 'errored': {
      const { error, message, reset_at } = report;
      return [event('AgentErrored', { agent_id, error, message: excerptEnd(message), reset_at })];
    }
  }
}

export interface ReportStarted {
  readonly agentId: string;
  readonly start: number;
  readonly supervisor: string;
  readonly process: string;
}

/** The same as the supervisor's own report, for a process that the daemon finds. */
export function decideReportStarted(state: State, { agentId, ...started }: ReportStarted): Outcome<null> {
  const agent = findAgent(state, agentId);
  return agent.ok ? decideProcess(agent.answer, { kind: 'started', ...started }) : agent;
}

export interface ReportStartFailed {
  readonly agentId: string;
  readonly start: number;
  readonly reason: string;
}

export function decideReportStartFailed(state: State, { agentId, start, reason }: ReportStartFailed): Outcome<null> {
  const agent = state.agents.get(agentId);
  const isNews = agent !== undefined && agent.start === start && agent.process === 'wanted';
  return decided(isNews ? [event('AgentStartFailed', { agent_id: agentId, start, reason })] : [], null);
}
