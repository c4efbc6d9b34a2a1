import type { HandlerName } from '../protocol/run-plan.ts';
import { event, type Event } from '../state/event.ts';
import type { EntryLevels } from '../state/fleet/entry-levels.ts';
import type { Rules } from '../state/rules.ts';
import { type EffectOf, findTimers, type TimerPurpose } from '../state/runs/effect.ts';
import type { State } from '../state/state.ts';
import type { ReadyTasks } from '../state/tasks/ready.ts';

/** All inputs besides the state, so that the same arguments always give the same entries. */
export interface EngineInputs {
  readonly newId: () => string;
  readonly at: string;
  readonly ready: ReadyTasks;
  readonly rules: Rules;
  /** The host that decides; undefined on SQLite, where the only host has no name. */
  readonly here: string | undefined;
  /** The level of entry types, for tests. Defaults to `ENTRY_LEVELS`. */
  readonly levels?: EntryLevels;
  /** Kept by the kernel for one command; see `fillCapacity`. */
  readonly search?: WorkSearch;
}

/** The entry after which a search for work found none. Without a later entry, another search is pointless. */
export interface WorkSearch {
  emptyAt: number | undefined;
}

export interface EngineContext extends EngineInputs {
  readonly state: State;
}

/** A scheduled handler, a wait for an API limit, or a gate of an agent. */
type PendingAction = EffectOf<'TimerSet'> | EffectOf<'CommandRequested'>;

export function pendingActions(state: State, agentId: string): readonly PendingAction[] {
  const found: PendingAction[] = [];
  for (const effect of state.effects.values()) {
    if (effect.type !== 'TimerSet' && effect.type !== 'CommandRequested') continue;
    const about = effect.type === 'TimerSet' ? effect.data.purpose : effect.data.subject;
    if ('agent_id' in about && about.agent_id === agentId) found.push(effect);
  }
  return found;
}

/** The handler that waits for the action; undefined for the `leave` timer. */
export function findWaitingHandler(pending: PendingAction): HandlerName | undefined {
  const about = pending.type === 'TimerSet' ? pending.data.purpose : pending.data.subject;
  if (about.kind === 'handler' || about.kind === 'gate') return about.handler;
  return about.kind === 'reset' ? 'on_error' : undefined;
}

export function cancelPending(pending: readonly PendingAction[]): Event[] {
  return pending.map((each) =>
    each.type === 'TimerSet'
      ? event('TimerCancelled', { timer_id: each.data.timer_id })
      : event('CommandCancelled', { command_id: each.data.command_id }),
  );
}

/** The timers of a step, and of its next retry. */
export function timersOf(state: State, pipelineId: string): readonly EffectOf<'TimerSet'>[] {
  return findTimers(state, (purpose) => 'pipeline_id' in purpose && purpose.pipeline_id === pipelineId);
}

export function undeliveredMessages(state: State, agentId: string): readonly EffectOf<'MessageRequested'>[] {
  return [...state.effects.values()]
    .filter((effect) => effect.type === 'MessageRequested')
    .filter(({ data }) => data.agent_id === agentId);
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
