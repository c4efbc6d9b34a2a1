import { randomUUID } from 'node:crypto';
import { reactUntilQuiet } from '../engine/react-until-quiet.ts';
import { react } from '../engine/react.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Event, Recorded } from '../state/event.ts';
import { readyTasks, type Ready } from '../state/ready.ts';
import { draftOf, recordedOf } from '../state/recorded.ts';
import { rulesInForce, type Rules } from '../state/rules.ts';
import { evolve, type State } from '../state/state.ts';
import { TrackedMap } from '../state/tracked-map.ts';
import type { View } from './request.ts';
import type { Origin, Trial } from './trial.ts';

/** The state that runs ahead of the ledger while a commit is made up, and goes back where nothing comes of it. */
export class StateAhead {
  readonly state: State;
  readonly #rules: Rules;
  readonly #ready: Ready;
  readonly #maps: readonly TrackedMap<string, unknown>[];

  /** The state is made with `TrackedMap`s. */
  constructor(state: State, rules: Rules) {
    this.state = state;
    this.#rules = rules;
    this.#ready = readyTasks(state, rules);
    this.#maps = Object.values(state).filter((value) => value instanceof TrackedMap);
  }

  view(at: string): View {
    return { state: this.state, ready: this.#ready, rules: rulesInForce(this.state, this.#rules), at };
  }

  /** There is something to claim, or to close. */
  get hasWork(): boolean {
    return this.#ready.first(this.state, 1).length + this.#ready.closing(this.state, 1).length > 0;
  }

  begin(at: string): Trial {
    for (const map of this.#maps) map.begin();
    return { before: this.state.seq, at, drafts: [], recorded: [], decided: [] };
  }

  record(event: Event, { actor, settles, cause }: Origin, trial: Trial): Recorded {
    const seq = this.state.seq + 1;
    const recorded: Recorded = { ...event, seq, at: trial.at, actor, ...(settles === undefined ? {} : { settles }) };
    // All drafts of a trial go into one call, in the order of their numbers.
    const because = cause === undefined ? undefined : { draft: cause.seq - trial.before - 1 };
    trial.drafts.push(draftOf(event, actor, settles, because));
    trial.recorded.push(recorded);
    this.#evolve(recorded);
    return recorded;
  }

  /** What follows from what was decided belongs to it, and goes into the same commit. */
  react(decided: readonly Recorded[], trial: Trial): void {
    const tools = { newId: randomUUID, at: trial.at, ready: this.#ready, rules: this.#rules };
    reactUntilQuiet(
      decided,
      (recorded) => react(this.state, recorded, tools),
      (event, cause) => this.record(event, { actor: 'system:engine', cause }, trial),
    );
  }

  takeBack({ before, recorded }: Trial): void {
    for (const map of this.#maps) map.revert();
    this.state.seq = before;
    for (const each of recorded) this.#ready.note(this.state, each);
  }

  /** What the ledger has, folded in; what it says of tasks and runs is handed back. */
  fold(entries: readonly Entry[]): readonly Recorded[] {
    const folded: Recorded[] = [];
    for (const entry of entries) {
      const recorded = recordedOf(entry);
      if (recorded !== undefined) {
        this.#evolve(recorded);
        folded.push(recorded);
      }
      this.state.seq = entry.seq;
    }
    return folded;
  }

  #evolve(recorded: Recorded): void {
    evolve(this.state, recorded);
    this.#ready.note(this.state, recorded);
  }
}
