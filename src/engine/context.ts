import type { HandlerName } from '../protocol/run-plan.ts';
import { event, type Event } from '../state/event.ts';
import type { Rules } from '../state/rules.ts';
import type { Effect, TimerPurpose } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import type { ReadyTasks } from '../state/tasks/ready.ts';

/** Everything that is not in the state, so that the same arguments always give the same entries. */
export interface EngineInputs {
  /** Returns a new, unique id. */
  readonly newId: () => string;
  /** The time of the entries. */
  readonly at: string;
  readonly ready: ReadyTasks;
  readonly rules: Rules;
}

/** What a rule may use. */
export interface EngineContext extends EngineInputs {
  readonly state: State;
}

/** A scheduled handler, a wait for an API limit, or a gate of an agent. */
type PendingAction = Extract<Effect, { kind: 'wait' | 'run-command' }>;

export function pendingActions(state: State, agentId: string): readonly PendingAction[] {
  const found: PendingAction[] = [];
  for (const effect of state.effects.values()) {
    if (effect.kind === 'wait' && 'agent_id' in effect.purpose && effect.purpose.agent_id === agentId)
      found.push(effect);
    if (effect.kind === 'run-command' && effect.subject.kind === 'gate' && effect.subject.agent_id === agentId)
      found.push(effect);
  }
  return found;
}

/** The handler that waits for it; undefined for the `leave` timer. */
export function findWaitingHandler(pending: PendingAction): HandlerName | undefined {
  if (pending.kind === 'run-command') return pending.subject.kind === 'gate' ? pending.subject.handler : undefined;
  if (pending.purpose.kind === 'handler') return pending.purpose.handler;
  return pending.purpose.kind === 'reset' ? 'on_error' : undefined;
}

export function cancelPending(pending: readonly PendingAction[]): Event[] {
  return pending.map((each) =>
    each.kind === 'wait'
      ? event('TimerCancelled', { timer_id: each.timerId })
      : event('CommandCancelled', { command_id: each.commandId }),
  );
}

/** The timers of a step, and of its next retry. */
export function timersOf(state: State, pipelineId: string): readonly Extract<Effect, { kind: 'wait' }>[] {
  const isIts = (purpose: TimerPurpose): boolean =>
    (purpose.kind === 'step' || purpose.kind === 'retry') && purpose.pipeline_id === pipelineId;
  return [...state.effects.values()].filter((effect) => effect.kind === 'wait').filter(({ purpose }) => isIts(purpose));
}

/** The messages that an agent has not received yet. */
export function undeliveredMessages(
  state: State,
  agentId: string,
): readonly Extract<Effect, { kind: 'send-message' }>[] {
  return [...state.effects.values()]
    .filter((effect) => effect.kind === 'send-message')
    .filter((effect) => effect.agentId === agentId);
}

export function setTimer(
  { newId, at }: { readonly newId: () => string; readonly at: string },
  ms: number,
  purpose: TimerPurpose,
): Event {
  return event('TimerSet', { timer_id: newId(), due: addMs(at, ms), purpose });
}

export function addMs(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}
