import type { AgentReport } from '../../protocol/agent-report.ts';
import type { HostCount, SandboxRecord } from '../../protocol/sandbox.ts';
import type { Caller } from '../caller.ts';
import { event, type Event, type Events } from '../event.ts';
import { decided, type Outcome, refusal } from '../outcome.ts';
import type { Rules } from '../rules.ts';
import type { State } from '../state.ts';
import { type AgentRun, isAttached, isAttaching } from './agent-run.ts';
import { excerptEnd, plainLine } from './excerpt.ts';
import { findAgent, findReportedAgent } from './find-run.ts';
import { findSilenceDecision } from './open-decisions.ts';
import { isWorthRecording, priceRequests, priceUsage } from './usage.ts';

export interface ReportAgent {
  /** Default: the caller's own agent. */
  readonly agentId?: string;
  readonly report: AgentReport;
  /** The time of the entry, for the day's budget. */
  readonly at?: string;
}

/**
 * Decides a report about an agent. Agents and people may report that the agent is idle or wants to stop; only its
 * supervisor reports the rest.
 */
export function decideReportAgent(
  state: State,
  { agentId, report, at }: ReportAgent,
  caller: Caller,
  rules: Rules,
): Outcome<null> {
  const isWatcher = caller.kind === 'supervisor' || caller.kind === 'system';
  if (!isWatcher && report.kind !== 'idle' && report.kind !== 'stop') {
    const message = `the token of this ${caller.kind} does not allow the report ${report.kind}`;
    return refusal('forbidden', message, "It needs the token of the agent's supervisor.");
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

type Report<K extends AgentReport['kind']> = Extract<AgentReport, { kind: K }>;

/**
 * Decides a start or exit. Starts are numbered, and each begins and ends once: a repeat, or a report about an earlier
 * start, changes nothing.
 */
function decideProcess(agent: AgentRun, report: Report<'started' | 'exited'>): Outcome<null> {
  const { start } = report;
  if (start > agent.start) {
    const message = `agent ${agent.id} has had ${agent.start} starts, not ${start}`;
    return refusal('unknown-start', message, 'This is a bug in Baton.');
  }
  const isNews = start === agent.start && agent.process !== 'gone';
  if (!isNews || (report.kind === 'started' && agent.process === 'running')) return decided([], null);
  return decided([processEvent(agent.id, report)], null);
}

function processEvent(agent_id: string, report: Report<'started' | 'exited'>): Event {
  if (report.kind === 'started') {
    const { start, supervisor, process, sandbox, judge } = report;
    const judging = judge === undefined ? {} : { judge };
    return event('AgentStarted', { agent_id, start, supervisor, process, ...sandboxFields(sandbox), ...judging });
  }
  const { start, code, signal, timed_out, blocks_used, output, hosts = [] } = report;
  const exit = { start, code, signal, timed_out, blocks_used, output: output === null ? null : excerptEnd(output) };
  return event('AgentExited', { agent_id, ...exit, ...(hosts.length === 0 ? {} : { hosts: mostAsked(hosts) }) });
}

/** Bounded, because a session chooses the hosts it requests and the text that its notes quote. */
function sandboxFields(sandbox: SandboxRecord | undefined): Partial<Events['AgentStarted']> {
  if (sandbox === undefined) return {};
  const notes = sandbox.notes.slice(0, MOST_NOTES).map((note) => plainLine(note, NOTE_CHARACTERS));
  return {
    sandbox: sandbox.kind,
    network: plainLine(sandbox.network, NETWORK_CHARACTERS),
    limits: sandbox.limits,
    ...(notes.length === 0 ? {} : { sandbox_notes: notes }),
  };
}

function mostAsked(hosts: readonly HostCount[]): readonly HostCount[] {
  const asked = ({ allowed, refused }: HostCount): number => allowed + refused;
  return hosts
    .toSorted((a, b) => asked(b) - asked(a))
    .slice(0, MOST_HOSTS)
    .map(({ host, allowed, refused }) => ({ host: plainLine(host, HOST_CHARACTERS), allowed, refused }));
}

const MOST_NOTES = 20;
const NOTE_CHARACTERS = 300;
const NETWORK_CHARACTERS = 500;
const MOST_HOSTS = 50;
const HOST_CHARACTERS = 255;

/** The count of blocks only grows: a late or repeated report changes nothing. */
function blockEvents({ id: agent_id, blocks }: AgentRun, report: Report<'blocked'>): Event[] {
  return report.blocks > blocks ? [event('AgentBlocked', { agent_id, blocks: report.blocks })] : [];
}

/** Records output only if a decision about the agent's silence is open and its process still runs. */
function heardEvents(state: State, agent: AgentRun, report: Report<'heard'>): Event[] {
  const isAwaited = findSilenceDecision(state, agent) !== undefined;
  const isThere = agent.process === 'running' && agent.start === report.start;
  return isAwaited && isThere ? [event('AgentHeard', { agent_id: agent.id })] : [];
}

function attachmentEvents({ id: agent_id, attach }: AgentRun, report: Report<'attached' | 'detached'>): Event[] {
  const { start } = report;
  if (attach === null || attach.start !== start || attach.state === 'gone') return [];
  if (report.kind === 'attached')
    return attach.state === 'wanted' ? [event('AgentAttached', { agent_id, start, by: report.by })] : [];
  const { how, talked } = report;
  return [event('AgentDetached', { agent_id, start, by: attach.by, how, talked })];
}

/**
 * Records usage, even of an agent whose run has ended. Supervisors report at each tool call; an entry is recorded when
 * a turn has ended, when the last entry is old, or when a budget moves by a step.
 */
function usageEvents(state: State, agent: AgentRun, report: Report<'used'>, rules: Rules, at = ''): Event[] {
  const { id: agent_id, usage } = agent;
  const { prices = [] } = rules;
  const { conversation_id, model, input_tokens, output_tokens, cached_tokens, turns, waiting_tokens } = report;
  const counted = { conversation_id, model, input_tokens, output_tokens, cached_tokens, turns, waiting_tokens };
  const { open_input_tokens: input, open_output_tokens: output, open_cached_tokens: cached } = report;
  const open = { input, output, cached, lasting: report.unpriced_tokens };
  const { reserved_input_tokens = 0, reserved_output_tokens = 0, reserved_cached_tokens = 0 } = report;
  const reserved = { input: reserved_input_tokens, output: reserved_output_tokens, cached: reserved_cached_tokens };
  // An older supervisor sends neither field, and expects each of its reports to be recorded.
  const isDue = report.is_due ?? report.reserved_input_tokens === undefined;
  const reserved_tokens = reserved.input + reserved.output + reserved.cached;
  const reserved_millicents = priceRequests(report.model, reserved, prices);
  const requests = reserved_tokens === 0 ? {} : { reserved_tokens, reserved_millicents };
  const client = report.client_tokens === undefined ? {} : { client_tokens: report.client_tokens };
  const used = { ...counted, ...priceUsage(usage, { ...report, open }, prices), ...requests, ...client };
  const known: object = { reserved_tokens: undefined, reserved_millicents: undefined, ...usage };
  const isNews = usage === null || Object.entries({ ...known, ...used }).some(([n, v]) => Reflect.get(usage, n) !== v);
  const isWanted = isDue || usage?.turns !== used.turns || isWorthRecording(state, agent, used, rules, at);
  return isNews && isWanted ? [event('SessionUsed', { agent_id, ...used })] : [];
}

/** Records nothing if the run has ended, the agent waits for a person, or the process runs in a user's terminal. */
function workEvents(agent: AgentRun, report: Report<'idle' | 'stop' | 'silent' | 'prompted' | 'errored'>): Event[] {
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

/** Records a start like the supervisor's own report, for a daemon that finds an unreported process. */
export function decideReportStarted(
  state: State,
  { agentId, ...started }: Omit<Report<'started'>, 'kind'> & { readonly agentId: string },
): Outcome<null> {
  const agent = findAgent(state, agentId);
  return agent.ok ? decideProcess(agent.answer, { kind: 'started', ...started }) : agent;
}

export function decideReportStartFailed(
  state: State,
  { agentId, start, reason }: { readonly agentId: string; readonly start: number; readonly reason: string },
): Outcome<null> {
  const agent = state.agents.get(agentId);
  const isNews = agent !== undefined && agent.start === start && agent.process === 'wanted';
  return decided(isNews ? [event('AgentStartFailed', { agent_id: agentId, start, reason })] : [], null);
}
