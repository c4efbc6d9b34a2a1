import { isIsolated } from '../../protocol/sandbox.ts';
import type { Event, EventOf, RecordedEvent } from '../event.ts';
import { addElapsedTime } from './accounts.ts';
import type { AgentRun, Attachment } from './agent-run.ts';

type Envelope = Pick<RecordedEvent, 'seq' | 'at'>;

export function createAgent({ data, at }: EventOf<'AgentRequested'> & Envelope): AgentRun {
  const { agent_id: id, plan, vars, task, worker, owner, on_stop: onStop, note, host = null } = data;
  const given = { id, plan, vars, task, worker, onStop, host, ...(note === undefined ? {} : { note }) };
  return {
    ...given,
    owner: owner === null ? null : { pipelineId: owner.pipeline_id, step: owner.step },
    requestedAt: at,
    process: 'wanted',
    start: 1,
    resume: null,
    supervisor: null,
    pid: null,
    signal: null,
    parked: null,
    killed: false,
    attach: null,
    outcome: null,
    reason: null,
    recovering: false,
    limited: false,
    waits: 0,
    tries: {},
    blocks: 0,
    resumes: 0,
    exit: null,
    usage: null,
    workMs: 0,
    waitMs: 0,
    since: at,
    over: null,
  };
}

export function evolveAgent(agent: AgentRun, recorded: Event & Envelope): AgentRun {
  const after = addElapsedTime(agent, change(agent, recorded), recorded.at);
  const isOver = after.outcome !== null && after.process === 'gone';
  return isOver && after.over === null ? { ...after, over: recorded.seq } : after;
}

function change(agent: AgentRun, { type, data, at }: Event & Envelope): AgentRun {
  switch (type) {
    case 'AgentResumeRequested':
      return resumed(agent, data);
    case 'AgentStarted':
      return isNewest(agent, data) && agent.process === 'wanted' ? started(agent, data) : agent;
    case 'AgentStartFailed':
      return isNewest(agent, data) ? { ...agent, process: 'gone' } : agent;
    case 'AgentExited':
      return isNewest(agent, data) ? exited(agent, data, at) : agent;
    case 'AgentSignalled':
      return { ...agent, signal: { kind: data.kind, message: data.message } };
    case 'AgentParked':
      return { ...agent, parked: data.decision_id };
    case 'AgentUnparked':
      if (data.keeps_counts === true) return { ...agent, parked: null };
      // If a person has resumed it, all counts restart and its question is answered.
      return {
        ...agent,
        parked: null,
        waits: 0,
        tries: {},
        resumes: 0,
        recovering: false,
        signal: agent.signal?.kind === 'escalate' ? null : agent.signal,
      };
    case 'AgentBlocked':
      return { ...agent, blocks: Math.max(agent.blocks, data.blocks) };
    case 'SessionUsed': {
      const { agent_id: _, ...usage } = data;
      return { ...agent, usage };
    }
    case 'AgentEnded':
      return { ...agent, outcome: data.outcome, reason: data.reason, recovering: false };
    case 'RunAcknowledged':
      return { ...agent, acknowledged: true };
    case 'AgentRestartRequested':
      return isNewest(agent, data) ? { ...agent, restart: data.message } : agent;
    case 'AgentKillRequested':
      return { ...agent, killed: true };
    case 'AgentAttachRequested': {
      const attach = { start: data.start, by: data.by, at, asked: null, state: 'wanted', talked: false } as const;
      return { ...agent, attach, recovering: false };
    }
    case 'AgentAttached':
      return attached(agent, data, { state: 'there', by: data.by, asked: agent.parked });
    case 'AgentDetached':
      return attached(agent, data, { ...(data.how !== 'absent' && { state: 'gone' }), talked: data.talked });
    case 'MessageDelivered':
      return data.ok ? { ...agent, recovering: false } : agent;
    case 'HandlerTried':
      // Waits for limits are counted over the whole run; other errors and ended limits do not change the count.
      if (data.action === 'wait') return { ...agent, waits: data.attempt };
      return {
        ...agent,
        tries: { ...agent.tries, [data.handler]: { count: data.attempt, at } },
        resumes: agent.resumes + (data.action === 'resume' ? 1 : 0),
        recovering: data.handler === 'on_error' && data.action === 'resume',
      };
    case 'TimerSet':
      return data.purpose.kind === 'reset' ? { ...agent, limited: true } : agent;
    case 'TimerFired':
      if (data.purpose.kind !== 'reset') return agent;
      // The agent gets a message to continue. If its process is exiting because of the same error, the next process
      // gets it.
      return {
        ...agent,
        limited: false,
        tries: withoutErrors(agent.tries),
        recovering: agent.process === 'running',
      };
    case 'TimerCancelled':
      // Only the timer of a limit reaches this case.
      return { ...agent, limited: false };
    default:
      return agent;
  }
}

function resumed(agent: AgentRun, data: EventOf<'AgentResumeRequested'>['data']): AgentRun {
  const { restart: _, ...before } = agent;
  const { start, message, append } = data;
  const none = { supervisor: null, pid: null, killed: false, recovering: false };
  return { ...before, start, process: 'wanted', resume: { message, append }, ...none };
}

function isNewest(agent: AgentRun, { start }: { readonly start: number }): boolean {
  return start === agent.start;
}

function attached(agent: AgentRun, { start }: { readonly start: number }, change_: Partial<Attachment>): AgentRun {
  return agent.attach?.start === start ? { ...agent, attach: { ...agent.attach, ...change_ } } : agent;
}

function started(agent: AgentRun, data: EventOf<'AgentStarted'>['data']): AgentRun {
  const { sandbox: earlier, access: _access, judge: _judge, ...before } = agent;
  const { supervisor, process: pid, sandbox, network = null, limits = null, sandbox_notes: notes = [] } = data;
  const judging = data.judge === undefined ? {} : { judge: data.judge };
  const running = { ...before, process: 'running', supervisor, pid, ...judging } as const;
  if (sandbox === undefined) return running;
  const wasOpen = data.start > 1 && isIsolated(sandbox) && !isIsolated(earlier);
  const known = data.network === undefined ? {} : { access: { network, limits, notes } };
  return { ...running, sandbox, ...known, ...(wasOpen ? { wasOpen } : {}) };
}

function exited(agent: AgentRun, data: EventOf<'AgentExited'>['data'], at: string): AgentRun {
  const { code, signal, timed_out: timedOut, blocks_used: blocksUsed, output } = data;
  const asked = data.hosts === undefined ? {} : { hosts: data.hosts };
  return { ...agent, process: 'gone', exit: { code, signal, timedOut, blocksUsed, output, at, ...asked } };
}

/** Clears errors after a limit has ended, because a later error is a new one. */
function withoutErrors(tries: AgentRun['tries']): AgentRun['tries'] {
  const { on_error: known, ...others } = tries;
  return known === undefined ? tries : others;
}
