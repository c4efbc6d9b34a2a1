import { actorOf, type Caller, splitActor } from '../state/caller.ts';
import type { CommandKind } from '../protocol/command-access.ts';
import { decide, type AnswerOf, type CommandOf } from '../state/decide.ts';
import type { Event, RecordedEvent, SettledRequest } from '../state/event.ts';
import type { Refusal } from '../state/outcome.ts';
import { trackReadyTasks } from '../state/tasks/ready.ts';
import { copyState, evolve, type State } from '../state/state.ts';
import { numberEntry } from '../state/tasks/task-numbers.ts';
import { reactUntilQuiet } from './react-until-quiet.ts';
import { react } from './react.ts';
import type { EngineContext, WorkSearch } from './context.ts';
import { followSearch } from './dispatch.ts';
import { findAboveLevel, requireLevel } from './fleet/entry-level.ts';
import { placeEvent } from './fleet/place-event.ts';

/** An entry after it was folded into the state. It is durable only when the ledger has it. */
export interface Step {
  readonly event: Event;
  readonly recorded: RecordedEvent;
  /** The entry that caused this one; undefined if the command itself decided it. */
  readonly cause: RecordedEvent | undefined;
}

export type Applied<A> =
  | { readonly ok: true; readonly answer: A; readonly steps: readonly Step[] }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Applies one command: checks the caller, decides, folds the entries into the state, and runs the rules until nothing
 * more follows. A refusal changes nothing. An accepted command changes `world.state` in place, and its steps must be
 * recorded in one commit.
 */
export function apply<K extends CommandKind>(
  world: EngineContext,
  command: CommandOf<K>,
  caller: Caller,
): Applied<AnswerOf<K>> {
  const outcome = decide(world.state, command, caller, world.rules, world.here);
  if (!outcome.ok) return outcome;
  const waiting = findAboveLevel(world, outcome.events);
  if (waiting !== undefined) return { ok: false, refusal: waiting };
  return { ok: true, answer: outcome.answer, steps: advance(world, outcome.events, { actor: actorOf(caller) }) };
}

/**
 * The second half of `apply`, for a caller that has already decided. All decided events are folded before any rule
 * reacts to one. If a rule throws, `steps` holds what was folded until then, so that the caller can undo it.
 */
export function advance(
  world: EngineContext,
  events: readonly Event[],
  { actor, settles }: Origin,
  steps: Step[] = [],
): readonly Step[] {
  const { state, ready, at } = world;
  const search: WorkSearch = { emptyAt: undefined };
  const inputs = { ...world, search };
  requireLevel(world, events);
  const record = (
    given: Event,
    by: string,
    cause?: RecordedEvent,
    more: Pick<RecordedEvent, 'settles'> = {},
  ): RecordedEvent => {
    const event = placeEvent(given, state, world.here);
    const tasks = numberEntry(state, event);
    const numbers = tasks === undefined ? {} : { tasks };
    const recorded: RecordedEvent = { ...event, seq: state.seq + 1, at, ...splitActor(by), ...numbers, ...more };
    steps.push({ event, recorded, cause });
    evolve(state, recorded);
    ready.note(state, recorded);
    followSearch(search, recorded);
    return recorded;
  };
  const decided = events.map((event, i) =>
    record(event, actor, undefined, i === 0 && settles !== undefined ? { settles } : {}),
  );
  reactUntilQuiet(
    decided,
    (recorded) => {
      const followed = react(state, recorded, inputs);
      requireLevel(world, followed);
      return followed;
    },
    (event, cause) => record(event, 'system:engine', cause),
  );
  return steps;
}

export interface Origin {
  readonly actor: string;
  /** The idempotency key and its answer, stored in the first entry. */
  readonly settles?: SettledRequest;
}

/** Applies a command to a copy of the state, up to the first effects. Nothing is recorded or run. */
export function rehearse(
  world: Omit<EngineContext, 'ready'>,
  commands: readonly CommandOf<CommandKind>[],
  caller: Caller,
): Applied<State> {
  const state = copyState(world.state);
  const copy: EngineContext = { ...world, state, ready: trackReadyTasks(state, world.rules) };
  const steps: Step[] = [];
  for (const command of commands) {
    const applied = apply(copy, command, caller);
    if (!applied.ok) return applied;
    steps.push(...applied.steps);
  }
  return { ok: true, answer: state, steps };
}
