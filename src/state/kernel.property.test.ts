import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { actorOf } from './caller.ts';
import { isClaimable } from './tasks/claim-task.ts';
import { decide } from './decide.ts';
import type { RecordedEvent } from './event.ts';
import { createStory, type Story } from './given.cases.ts';
import { findFault } from './history.cases.ts';
import * as modelled from './model.cases.ts';
import type { Model } from './model.cases.ts';
import { create, operator } from './say.cases.ts';
import { BEGINNING, GATES, SPEECHES, type Speech } from './speech.cases.ts';
import { emptyState, evolve } from './state.ts';
import { taskStatus } from './tasks/task.ts';

/** For more runs: `BATON_KERNEL_RUNS=20000 vitest run src/state/kernel`. */
const numRuns = Number(process.env['BATON_KERNEL_RUNS'] ?? 300);

interface Real {
  readonly story: Story;
  readonly commands: (readonly RecordedEvent[])[];
}

class Said implements fc.Command<Model, Real> {
  #said = '';
  readonly #speech: Speech;

  constructor(speech: Speech) {
    this.#speech = speech;
  }

  check(): boolean {
    return true;
  }

  run(model: Model, { story, commands }: Real): void {
    const [command, caller] = this.#speech(model);
    this.#said = `${actorOf(caller)} ${JSON.stringify(command)}`;
    const { state, entries } = story;
    const before = structuredClone(state);
    const outcome = decide(state, command, caller, story.rules, undefined);
    must(isDeepStrictEqual(state, before), 'deciding changed the state');
    const accepted = modelled.accepts(model, command, caller);
    must(
      outcome.ok === accepted,
      outcome.ok ? 'the model refuses this' : `the model accepts this: ${outcome.refusal.message}`,
    );
    if (!outcome.ok) return;
    const known = entries.length;
    story.record(outcome.events, actorOf(caller));
    commands.push(entries.slice(known));
    const fault = findFault(commands);
    must(fault === undefined, fault ?? '');
    assertEqual(seen(story), expected(model));
    must(isDeepStrictEqual(entries.reduce(evolve, emptyState()), state), 'replayed, the entries lead elsewhere');
  }

  toString(): string {
    return this.#said;
  }
}

function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

function assertEqual(real: unknown, model: unknown): void {
  must(isDeepStrictEqual(real, model), `real: ${JSON.stringify(real)}\nmodel: ${JSON.stringify(model)}`);
}

/** The tasks as users see them. */
function seen({ state, rules }: Story): unknown {
  return [...state.tasks.values()].map((task) => ({
    id: task.id,
    phase: task.phase,
    status: taskStatus(task),
    role: task.nextRole,
    epoch: task.epoch,
    holder: task.claim?.sessionId ?? null,
    claimable: isClaimable(state, task, rules),
  }));
}

function expected(model: Model): unknown {
  return [...model.tasks].map(([id, task]) => {
    const { phase, role, epoch, live } = task;
    const isUnderWay = live !== null || task.past || phase !== task.first;
    const open = isUnderWay ? 'in_progress' : 'todo';
    const stuck = task.cancelled ? 'cancelled' : 'blocked';
    const status = phase === 'COMPLETED' ? 'done' : phase === 'BLOCKED' ? stuck : open;
    return {
      id,
      phase,
      status,
      role,
      epoch,
      holder: live?.session ?? null,
      claimable: modelled.isClaimable(model, task),
    };
  });
}

it(
  'agrees with the model for any commands of any callers',
  () => {
    const commands = fc.commands(
      SPEECHES.map((speech) => speech.map((said) => new Said(said))),
      { maxCommands: 120, size: 'max' },
    );
    const types = new Map<string, number>();
    fc.assert(
      fc.property(GATES, BEGINNING, commands, (rules, beginning, commands) => {
        const model = modelled.createModel(rules);
        const real: Real = { story: createStory(rules), commands: [] };
        for (const task of beginning) new Said(() => [create(task.id, task), operator]).run(model, real);
        fc.modelRun(() => ({ model, real }), commands);
        for (const { type } of real.story.entries) types.set(type, (types.get(type) ?? 0) + 1);
      }),
      { numRuns },
    );
    // It takes five commands in a row, which only long runs reach.
    types.delete('MergeRequested');
    // The mark of an approval that counts without proof; the rule about it has its own tests.
    types.delete('VerdictUnproven');
    // Checks that the runs produced every kind of entry, since a property without cases proves nothing.
    expect(types.size).toBe(19);
    expect([...types].filter(([, count]) => count < numRuns / 10)).toEqual([]);
  },
  90_000 + 20 * numRuns,
);
