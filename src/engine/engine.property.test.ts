import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { budgets } from './plans.cases.ts';
import { Play } from './play.cases.ts';
import { SPEECHES, settle, type Speech } from './speech.cases.ts';
import { type Effect, isStartEffect } from '../state/runs/effect.ts';
import { RUN_EVENTS } from '../state/runs/run-event.ts';
import { isDue } from '../effects/due.ts';
import { isAttached, isAttaching } from '../state/runs/agent-run.ts';
import * as runs from '../state/runs/say.cases.ts';
import { overallPipelineStatus } from '../state/runs/steer-pipeline.ts';

/** Only ledgers of earlier versions have them. */
const OLD_TYPES: ReadonlySet<string> = new Set(['DecisionExtended']);

/** For more runs: `BATON_ENGINE_RUNS=20000 vitest run src/engine/engine.property`. */
const numRuns = Number(process.env['BATON_ENGINE_RUNS'] ?? 200);

const stories = fc.array(fc.oneof(...SPEECHES), { maxLength: 60, size: 'max' });
const rules = fc.record(
  {
    maxAgents: fc.constantFrom(1, 3),
    ciGate: fc.boolean(),
    leaveMs: fc.constant(100),
    budgets: fc.record({ task: budgets, day: budgets }, { requiredKeys: [] }),
    prices: fc.constant([{ model: 'known*', input: 1_000_000, output: 2_000_000, cached: 100_000 }]),
  },
  { requiredKeys: ['ciGate'] },
);

/** Checks the state for faults after each command, because `Play` does; see `faults.cases.ts`. */
function perform(play: Play, story: readonly Speech[]): void {
  for (const [i, speech] of story.entries()) {
    const said = speech(play);
    if (said === undefined) continue;
    const before = structuredClone(play.state);
    play.attempt(...said);
    const isSame = isDeepStrictEqual(play.state, before);
    // Refused, or a repeat.
    if (play.last.length === 0 && !isSame)
      throw new Error(`something changed and is not on record: ${JSON.stringify(said)}`);
    if (i % CRASH_EVERY === 0) crash(play);
  }
  crash(play);
}

const CRASH_EVERY = 6;

/** Simulates a new daemon, which knows only the entries and must continue as this one would have. */
function crash(play: Play): void {
  if (!isDeepStrictEqual(play.replayed(), play.state))
    throw new Error(`replayed, the entries lead elsewhere\n${play.story()}`);
}

/** The worst case: every agent dies, every timer fires, every other command fails. */
function driveToRest(play: Play): void {
  for (let round = 0; round < 20_000; round += 1) {
    const effect = [...play.state.effects.values()].find((each) => !isEndless(each) && isDue(each, play.state));
    const agent = [...play.state.agents.values()].find(({ process }) => process === 'running');
    const how = (effect !== undefined && isStartEffect(effect)) || round % 2 === 0 ? 'well' : 'late';
    if (effect !== undefined) play.say(settle(play, effect, how));
    else if (agent !== undefined) play.say(runs.exited(agent.id, { start: agent.start, code: 1 }));
    else return;
  }
  throw new Error(`it never comes to rest\n${play.story().slice(-5000)}`);
}

/** Timers that never end: there is always another day, and an immortal agent uses each day's time. */
function isEndless(effect: Effect): boolean {
  return effect.type === 'TimerSet' && (effect.data.purpose.kind === 'day' || effect.data.purpose.kind === 'budget');
}

/** A start that waits for a budget keeps its room, so that an answer does not start more agents than allowed. */
function isRoomTaken({ state }: Play): boolean {
  return [...state.agents.values()].some(({ process, parked }) => process === 'wanted' && parked !== null);
}

describe('any commands, by any callers, in any order', () => {
  it(
    'keep every rule of the ledger, and cover every type of entry',
    () => {
      const types = new Map<string, number>();
      const missing = (): string[] =>
        Object.keys(RUN_EVENTS).filter((type) => !types.has(type) && !OLD_TYPES.has(type));
      // The property proves little unless the stories reach every type of entry. Rare types may take more stories.
      for (let round = 0; round < 5 && missing().length > 0; round += 1)
        fc.assert(
          fc.property(rules, stories, (given, story) => {
            const play = new Play(given);
            perform(play, story);
            for (const { type } of play.entries) types.set(type, (types.get(type) ?? 0) + 1);
          }),
          { numRuns },
        );
      expect(missing()).toEqual([]);
    },
    60_000 + 1000 * numRuns,
  );

  it(
    'end, or wait for a person, if attempts are finite',
    () => {
      let waiting = 0;
      let ended = 0;
      fc.assert(
        fc.property(rules, stories, (given, story) => {
          const play = new Play(given);
          perform(play, story);
          play.order(runs.configure([]));
          driveToRest(play);
          for (const run of play.state.pipelines.values()) {
            const status = overallPipelineStatus(play.state, run);
            if (status === 'running' && !isRoomTaken(play))
              throw new Error(`pipeline ${run.id} is stuck\n${play.story()}`);
            if (status === 'waiting') waiting += 1;
            else ended += 1;
          }
          for (const agent of play.state.agents.values()) {
            if (agent.outcome !== null) continue;
            if (agent.parked === null) throw new Error(`agent ${agent.id} is stuck\n${play.story()}`);
            if (isAttaching(agent) || isAttached(agent))
              throw new Error(`somebody waits for agent ${agent.id}\n${play.story()}`);
          }
        }),
        { numRuns: Math.ceil(numRuns / 2) },
      );
      expect(waiting).toBeGreaterThan(0);
      expect(ended).toBeGreaterThan(0);
    },
    60_000 + 200 * numRuns,
  );
});
