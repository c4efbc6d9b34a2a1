import type { AgentSessionCompleted } from '../../protocol/agent-session-completed.ts';
import type { Mission } from '../../protocol/mission.ts';
import type { Result } from '../../protocol/result.ts';
import type { Requirement } from '../../protocol/run-plan.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { type EventOf, HOW_CLAIM_ENDED, type HowClaimEnded, type RecordedEvent } from '../event.ts';
import type { HandoffRef } from '../workflow/workflow-event.ts';

/** One session, as its task's entries describe it. The newest message of a kind counts. */
export interface SessionAccount extends Pick<
  EventOf<'TaskClaimed'>['data'],
  'epoch' | 'holder' | 'principal' | 'role'
> {
  readonly sessionId: string;
  readonly startedAt: string;
  readonly end: { readonly how: HowClaimEnded; readonly reason: string | null; readonly at: string } | null;
  readonly agentIds: readonly string[];
  readonly mission: Mission | null;
  readonly prompt: string | null;
  readonly result: Result | null;
  readonly record: ThoughtRecord | null;
  readonly handoff: HandoffRef | null;
  readonly exit: AgentSessionCompleted | null;
  readonly evidence: EventOf<'EvidenceRecorded'>['data'] | null;
  /** Null before the session's end, and for a claim by hand. */
  readonly measured: EventOf<'SessionMeasured'>['data'] | null;
  /** The checks of the measured commit. */
  readonly checks: readonly EventOf<'CheckFinished'>['data'][];
  readonly messages: readonly SentMessage[];
  readonly blocks: readonly BlockedStop[];
  /** The entries with the session's reports, oldest first. */
  readonly said: readonly RecordedEvent[];
}

/** A message to the session's agent. */
interface SentMessage {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly text: string;
  /** Null while delivery is unknown. */
  readonly isDelivered: boolean | null;
}

/** A blocked stop, and the messages that the session owed at that time. */
interface BlockedStop {
  readonly seq: number;
  readonly at: string;
  readonly owed: readonly Requirement[];
}

/** The sessions in one task's entries, oldest first. Entries of an agent count if its request is among them. */
export function listAccounts(entries: readonly RecordedEvent[]): readonly SessionAccount[] {
  const open = new OpenAccounts();
  for (const entry of entries) open.add(entry);
  return open.accounts;
}

interface Draft extends SessionAccount {
  readonly requires: readonly Requirement[];
  readonly messageIds: readonly string[];
}

class OpenAccounts {
  readonly accounts: Draft[] = [];

  add(entry: RecordedEvent): void {
    const { type, data, at } = entry;
    if (type === 'TaskClaimed') return void this.accounts.push(begin(data, at));
    const index = this.#find(entry);
    const account = this.accounts[index];
    if (account !== undefined) this.accounts[index] = addTo(account, entry);
  }

  /** Finds the account of an entry: by session, epoch, agent or checked commit; else the newest. */
  #find({ type, data }: RecordedEvent): number {
    if (type === 'CheckFinished') return this.accounts.findLastIndex(({ measured }) => measured?.head === data.head);
    if (type === 'AgentRequested')
      return this.accounts.findLastIndex(({ sessionId }) => sessionId === data.task?.session_id);
    if ('session_id' in data && data.session_id !== undefined)
      return this.accounts.findLastIndex(({ sessionId }) => sessionId === data.session_id);
    if ('epoch' in data && data.epoch !== undefined && data.epoch !== null)
      return this.accounts.findLastIndex(({ epoch }) => epoch === data.epoch);
    if ('agent_id' in data)
      return this.accounts.findLastIndex(({ agentIds }) => agentIds.includes(data.agent_id ?? ''));
    return type === 'HandoffHeld' ? this.accounts.length - 1 : -1;
  }
}

function begin(data: EventOf<'TaskClaimed'>['data'], startedAt: string): Draft {
  const { epoch, session_id: sessionId, holder, principal, role, requires } = data;
  const nothing = {
    mission: null,
    prompt: null,
    result: null,
    record: null,
    handoff: null,
    exit: null,
    evidence: null,
  };
  const lists = { agentIds: [], checks: [], messages: [], blocks: [], said: [], messageIds: [] };
  return {
    epoch,
    sessionId,
    holder,
    principal,
    role,
    requires,
    startedAt,
    end: null,
    ...nothing,
    measured: null,
    ...lists,
  };
}

function addTo(account: Draft, entry: RecordedEvent): Draft {
  const { type, data, seq, at, actor } = entry;
  const said = { said: [...account.said, entry] };
  const how = HOW_CLAIM_ENDED.get(type);
  if (how !== undefined && 'reason' in data) return { ...account, end: { how, reason: data.reason ?? null, at } };
  switch (type) {
    case 'AgentRequested':
      return {
        ...account,
        agentIds: [...account.agentIds, data.agent_id],
        prompt: account.prompt ?? data.plan.prompt ?? null,
      };
    case 'SessionPrepared':
      return { ...account, mission: data.mission };
    case 'ResultSubmitted':
      return { ...account, ...said, result: data.result };
    case 'ThoughtRecorded':
      return { ...account, ...said, record: data.record };
    case 'HandoffHeld':
      return { ...account, ...said, handoff: data };
    case 'AgentSessionCompleted':
      return { ...account, ...said, exit: data };
    case 'EvidenceRecorded':
      return { ...account, ...said, evidence: data };
    case 'TaskProgressed':
    case 'AgentSignalled':
    case 'AgentPrompted':
      return { ...account, ...said };
    case 'SessionMeasured':
      return { ...account, measured: data };
    case 'CheckFinished':
      return { ...account, checks: [...account.checks.filter(({ name }) => name !== data.name), data] };
    case 'AgentBlocked':
      return { ...account, blocks: [...account.blocks, { seq, at, owed: owedBy(account) }] };
    case 'MessageRequested': {
      const message = { seq, at, actor, text: data.text, isDelivered: null };
      return {
        ...account,
        messages: [...account.messages, message],
        messageIds: [...account.messageIds, data.message_id],
      };
    }
    case 'MessageDelivered': {
      const index = account.messageIds.indexOf(data.message_id);
      const message = account.messages[index];
      if (message === undefined) return account;
      return { ...account, messages: account.messages.with(index, { ...message, isDelivered: data.ok }) };
    }
    case 'AgentResumeRequested': {
      if (data.message === null) return account;
      const message = { seq, at, actor, text: data.message, isDelivered: true };
      return { ...account, messages: [...account.messages, message], messageIds: [...account.messageIds, ''] };
    }
    default:
      return account;
  }
}

function owedBy({ requires, exit, result, handoff, record }: Draft): readonly Requirement[] {
  const sent = { exit, result, handoff, thought_record: record };
  return requires.filter((what) => sent[what] === null);
}
