import { MAX_BLOCKS } from '../protocol/decide-stop.ts';
import type { HandlerPlan } from '../protocol/run-plan.ts';
import type { Event, EventOf } from '../state/event.ts';
import { isAttaching, type AgentRun } from '../state/runs/agent-run.ts';
import { startAttachedProcess, endAttachment } from './attach.ts';
import { endAgent } from './end-agent.ts';
import { handlerPlan } from './handler-plan.ts';
import { cancelLeaveTimer } from './leave.ts';
import { resumeAfterError } from './on-error.ts';
import { cancelPending, findWaitingHandler, undeliveredMessages, pendingActions } from './pending.ts';
import { fireHandler } from './handlers.ts';
import { resumeAgent } from './resume.ts';
import type { EngineContext } from './context.ts';

/**
 * On `AgentExited`. The end of a process whose run is over, or that waits for a person, changes nothing; nor does that of one that
 * waits for an API. One that was allowed to leave, or that an error ended, and that did not hear any more what it was told, an answer that
 * came while it left, hears it in its next process. Where a person has the conversation, or wants it, it goes to them, or comes back from
 * them. Any other agent that leaves without a signal is dead, also where its blocks were used up.
 */
export function onExit(world: EngineContext, agent: AgentRun, data: EventOf<'AgentExited'>['data']): Event[] {
  const left = cancelLeaveTimer(world, agent.id);
  if (agent.attach?.start === data.start) return [...left, ...endAttachment(world, agent)];
  // A person waits for its conversation: that it stopped is what was wanted.
  if (isAttaching(agent) && data.start === agent.start) return [...left, ...startAttachedProcess(world, agent)];
  if (data.start !== agent.start || agent.outcome !== null || agent.parked !== null) return left;
  if (data.timed_out) return [...left, ...endAgent(world, agent, 'failed', 'timed out')];
  // A person had it restarted: its end was wanted.
  if (agent.restart !== undefined) return [...left, resumeAgent(agent, null, false)];
  const pending = pendingActions(world.state, agent.id);
  const moot = pending.filter((each) => ['on_idle', 'on_prompt'].includes(findWaitingHandler(each) ?? ''));
  const calledOff = [...left, ...cancelPending(moot)];
  if (pending.some((each) => findWaitingHandler(each) === 'on_error')) return calledOff;
  const mayLeave = data.code === 0 || hasAnsweredError(world, agent);
  const isUnheard = mayLeave && undeliveredMessages(world.state, agent.id).length > 0;
  if (agent.recovering || isUnheard) return [...calledOff, ...resumeAfterError(world, agent)];
  const plan = escalateIfBlocksUsed(handlerPlan(agent.plan, 'on_dead', null), hasUsedBlocks(world, agent));
  const how = data.signal === null ? `exit code ${data.code ?? 'unknown'}` : `signal ${data.signal}`;
  const blocks = data.blocks_used ? ', after its blocks were used up' : '';
  const message = `Agent ended without signaling completion (${how}${blocks})`;
  const firing = { handler: 'on_dead', plan, source: 'dead', message, details: data.output } as const;
  return [...calledOff, ...fireHandler(world, agent, firing)];
}

/** A run that has used all its blocks would only use the next process in the same way. */
function hasUsedBlocks({ rules }: EngineContext, { blocks }: AgentRun): boolean {
  return blocks >= (rules.maxBlocks ?? MAX_BLOCKS);
}

function escalateIfBlocksUsed(plan: HandlerPlan, hasUsed: boolean): HandlerPlan {
  return hasUsed && plan.action === 'resume' ? { action: 'escalate' } : plan;
}

/** An error ended its turn, and a person let it go on while the process was on its way out. */
function hasAnsweredError({ state }: EngineContext, { id }: AgentRun): boolean {
  const last = [...state.decisions.values()].findLast(({ agentId }) => agentId === id);
  return last?.source === 'error' && last.result?.kind === 'resolved';
}

/** On `AgentStartFailed`: there was never a process that could die. */
export function onStartFailed(world: EngineContext, agent: AgentRun, reason: string): Event[] {
  if (agent.attach?.start === agent.start) return endAttachment(world, agent);
  if (agent.parked !== null && isAttaching(agent)) return startAttachedProcess(world, agent);
  return agent.parked === null ? endAgent(world, agent, 'failed', `could not be started: ${reason}`) : [];
}
