import { expect } from 'vitest';
import { actorOf, type Caller, splitActor } from './caller.ts';
import { decide, type Command } from './decide.ts';
import type { Event, RecordedEvent } from './event.ts';
import type { Outcome } from './outcome.ts';
import type { Rules } from './rules.ts';
import { emptyState, evolve, type State } from './state.ts';
import { emptyTask } from './say.cases.ts';
import type { Task } from './tasks/task.ts';

/** An earlier step: an event as it was recorded, or a command and its sender, which must succeed. */
export type Step = Event | readonly [Command, Caller];

export const OPEN: Rules = { ciGate: false, mergeGate: false };

/** `given([…]).when(command, caller).then([…])`: tests the kernel in the form of its specification. */
export function given(steps: readonly Step[], rules: Rules = OPEN): Given {
  const story = createStory(rules);
  for (const step of steps) {
    if (!Array.isArray(step)) story.record([step as Event], 'operator:ann'); // oxlint-disable-line typescript/no-unsafe-type-assertion
    else story.say(...(step as [Command, Caller])); // oxlint-disable-line typescript/no-unsafe-type-assertion
  }
  return {
    state: story.state,
    task: (id) => story.state.tasks.get(id) ?? emptyTask,
    when: (command, caller) => when(story, command, caller),
  };
}

export interface Given {
  readonly state: State;
  readonly task: (id: string) => Task;
  when(command: Command, caller: Caller): When;
}

interface When {
  /** Expects exactly these events, in this order. */
  then(events: readonly Event[]): Then;
  /** Expects events of these types, in this order. */
  thenTypes(types: readonly Event['type'][]): Then;
  /** Expects a refusal with this code, or with exactly this message. */
  thenRefused(codeOrMessage: string): void;
}

interface Then {
  readonly answer: unknown;
  readonly task: (id: string) => Task;
}

function when(story: Story, command: Command, caller: Caller): When {
  const before = structuredClone(story.state);
  const outcome = decide(story.state, command, caller, story.rules, undefined);
  expect(story.state, 'deciding changes nothing').toEqual(before);
  return {
    // oxlint-disable-next-line unicorn/no-thenable -- Nobody awaits it.
    then(events) {
      expect(outcome).toMatchObject({ ok: true });
      expect(outcome.ok && outcome.events.filter(isNoMark)).toEqual(events);
      return recorded(story, outcome, caller);
    },
    thenTypes(types) {
      expect(outcome).toMatchObject({ ok: true });
      expect(outcome.ok && outcome.events.filter(isNoMark).map(({ type }) => type)).toEqual(types);
      return recorded(story, outcome, caller);
    },
    thenRefused(codeOrMessage) {
      expect(outcome).toMatchObject({ ok: false });
      if (outcome.ok) return;
      const { code, message, hint } = outcome.refusal;
      expect([code, message], `${code}: ${message}`).toContain(codeOrMessage);
      expect(hint, 'a refusal says what to do next').not.toBe('');
    },
  };
}

/** The mark of an approval that counts without proof is tested with the proof: `prove-verdict.test.ts`. */
function isNoMark({ type }: Event): boolean {
  return type !== 'VerdictUnproven';
}

function recorded(story: Story, outcome: Outcome<unknown>, caller: Caller): Then {
  if (outcome.ok) story.record(outcome.events, actorOf(caller));
  story.checkReplay();
  return {
    answer: outcome.ok ? outcome.answer : undefined,
    task: (id) => story.state.tasks.get(id) ?? emptyTask,
  };
}

/** A state, and the entries that led to it. */
export interface Story {
  readonly state: State;
  readonly rules: Rules;
  readonly entries: readonly RecordedEvent[];
  say(command: Command, caller: Caller): void;
  record(events: readonly Event[], actor: string): void;
  /** Checks that folding the entries, as the ledger returns them, gives the same state. */
  checkReplay(): void;
}

/** Approvals count without proof unless the rules say otherwise: who proves one is the subject of its own tests. */
export function createStory(given: Rules): Story {
  const rules: Rules = { unseparated: 'accept', ...given };
  const state = emptyState();
  const entries: RecordedEvent[] = [];
  const record = (events: readonly Event[], actor: string): void => {
    for (const event of events) {
      const entry: RecordedEvent = {
        ...event,
        seq: entries.length + 1,
        at: '2026-01-01T00:00:00.000Z',
        ...splitActor(actor),
      };
      entries.push(entry);
      evolve(state, entry);
    }
  };
  return {
    state,
    rules,
    entries,
    record,
    say(command, caller) {
      const outcome = decide(state, command, caller, rules, undefined);
      if (!outcome.ok) throw new Error(`${command.kind} by ${caller.kind}: ${outcome.refusal.message}`);
      record(outcome.events, actorOf(caller));
    },
    checkReplay() {
      const stored = JSON.parse(JSON.stringify(entries)) as RecordedEvent[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
      expect(stored.reduce(evolve, emptyState())).toEqual(state);
    },
  };
}
