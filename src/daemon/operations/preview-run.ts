import { reactUntilQuiet } from '../../engine/react-until-quiet.ts';
import { react } from '../../engine/react.ts';
import { decide, type Command } from '../../state/decide.ts';
import type { Event, RecordedEvent } from '../../state/event.ts';
import type { Outcome } from '../../state/outcome.ts';
import { trackReadyTasks } from '../../state/tasks/ready.ts';
import type { Effect } from '../../state/runs/effect.ts';
import { emptyState, evolve, type State } from '../../state/state.ts';
import type { DecideContext } from '../loop/request.ts';

export interface Preview {
  /** What would be recorded, in order. */
  readonly entries: readonly Event[];
  /** What would then be done outside. */
  readonly effects: readonly Effect[];
}

/** What commands would lead to, one after the other, up to the first things that must be done outside: the same functions, on a copy of the state. */
export function previewRun(
  { state, rules, at }: DecideContext,
  commands: readonly Command[],
  newId: () => string,
): Outcome<Preview> {
  const copy = copyState(state);
  const ready = trackReadyTasks(copy, rules);
  const entries: Event[] = [];
  const record = (event: Event): RecordedEvent => {
    const recorded: RecordedEvent = { ...event, seq: copy.seq + 1, at, actor: 'operator:plan' };
    entries.push(event);
    evolve(copy, recorded);
    ready.note(copy, recorded);
    return recorded;
  };
  for (const command of commands) {
    const outcome = decide(copy, command, PLANNING_OPERATOR, rules);
    if (!outcome.ok) return outcome;
    const first = outcome.events.map(record);
    reactUntilQuiet(first, (recorded) => react(copy, recorded, { newId, at, ready, rules }), record);
  }
  const effects = [...copy.effects.values()].filter(({ key }) => !state.effects.has(key));
  return { ok: true, events: [], answer: { entries, effects } };
}

const PLANNING_OPERATOR = { kind: 'operator', name: 'plan' } as const;

function copyState(state: State): State {
  const copy = emptyState();
  copy.seq = state.seq;
  for (const [name, map] of Object.entries(state)) {
    const target: unknown = Object.entries(copy).find(([known]) => known === name)?.[1];
    if (map instanceof Map && target instanceof Map) for (const [key, value] of map) target.set(key, value);
  }
  return copy;
}
