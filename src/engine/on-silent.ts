import { event, type Event, type EventOf } from '../state/event.ts';
import type { AgentRun } from '../state/runs/agent-run.ts';
import type { DecisionOption } from '../state/runs/decision.ts';
import { OPTION_LABELS } from '../state/runs/option-labels.ts';
import { findSilenceDecision } from '../state/runs/silence-question.ts';
import { escalate } from './escalate.ts';
import { findWaitingHandler, pendingActions } from './pending.ts';
import { isAtWork } from './handlers.ts';
import { unparkAgent } from './set-going.ts';
import { resumeAgent } from './resume.ts';
import type { EngineContext } from './context.ts';

/**
 * On `AgentSilent`: a person is asked. An agent that waits for a rate limit, a gate or a cooldown is expected to be silent; its supervisor
 * reports again if it stays silent after that.
 */
export function onSilent(world: EngineContext, agent: AgentRun, data: EventOf<'AgentSilent'>['data']): Event[] {
  const isExpected = pendingActions(world.state, agent.id).some((each) => findWaitingHandler(each) !== undefined);
  if (isExpected || agent.limited || !isAtWork(agent)) return [];
  const { what, tool } = data;
  const time = minutesOf(data.for_ms);
  const isTool = what === 'tool';
  const message = isTool
    ? `A tool call of the agent has been open for ${time}${tool === null || tool === '' ? '' : `: ${tool}`}`
    : `The agent has been silent for ${time} in the middle of a turn: no output, hook, usage or tool event`;
  return escalate(world, agent, {
    source: 'idle',
    reason: isTool ? 'limits.tool' : 'limits.silence',
    message,
    options: isTool ? [WAIT, ...OTHERS] : [RESUME, WAIT, ...OTHERS.filter((each) => each !== RESUME)],
    untilHeard: true,
  });
}

/** On `AgentHeard`: withdraws the decision about the silence. The agent continues. */
export function onHeard(world: EngineContext, agent: AgentRun): Event[] {
  const asked = findSilenceDecision(world.state, agent);
  if (asked === undefined) return [];
  const withdrawn = event('DecisionWithdrawn', { decision_id: asked.id, reason: 'the agent was heard again' });
  return [withdrawn, ...unparkAgent(world, agent, 'agent')];
}

/** Ends the process that is silent; the next one continues its conversation. */
export function restartSilentAgent(agent: AgentRun, message: string | null): Event {
  const text = message ?? RESTARTED;
  if (agent.process === 'gone') return resumeAgent(agent, text, false);
  return event('AgentRestartRequested', { agent_id: agent.id, start: agent.start, message: text });
}

export const RESTARTED =
  'You were restarted because nothing was heard from you for a long time. Continue where you stopped; check what your last step ' +
  'has changed before you repeat it.';

type Option = Omit<DecisionOption, 'recommended'>;

const WAIT: Option = { label: 'Wait longer', action: 'dismiss' };
const RESUME: Option = { label: 'Resume in a new process', action: 'resume' };
const OTHERS: readonly Option[] = [
  { label: OPTION_LABELS.nudge, action: 'nudge' },
  RESUME,
  { label: OPTION_LABELS.retry, action: 'retry' },
  { label: OPTION_LABELS.cancel, action: 'cancel' },
];

function minutesOf(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes === 0) return `${Math.round(ms / 1000)} s`;
  return `${minutes} min`;
}
