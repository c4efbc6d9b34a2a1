import { randomUUID } from 'node:crypto';
import { reactUntilQuiet } from '../../engine/react-until-quiet.ts';
import { react } from '../../engine/react.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { Event, RecordedEvent } from '../../state/event.ts';
import { trackReadyTasks, type ReadyTasks } from '../../state/tasks/ready.ts';
import { toLedgerDraft, toRecordedEvent } from '../../state/recorded-event.ts';
import { rulesInForce, type Rules } from '../../state/rules.ts';
import { evolve, type State } from '../../state/state.ts';
import { TrackedMap } from '../../state/tracked-map.ts';
import type { DecideContext } from './request.ts';
import type { EntryOrigin, Batch } from './trial.ts';

/** The state that runs ahead of the ledger while a commit is made up, and goes back where nothing comes of it. */
export class SpeculativeState {
  readonly state: State;
  readonly #rules: Rules;
  readonly #ready: ReadyTasks;
  readonly #maps: readonly TrackedMap<string, unknown>[];

  /** The state is made with `TrackedMap`s. */
  constructor(state: State, rules: Rules) {
    this.state = state;
    this.#rules = rules;
    this.#ready = trackReadyTasks(state, rules);
    this.#maps = Object.values(state).filter((value) => value instanceof TrackedMap);
  }

  view(at: string): DecideContext {
    return { state: this.state, ready: this.#ready, rules: rulesInForce(this.state, this.#rules), at };
  }

  /** There is something to claim, or to close. */
  get hasWork(): boolean {
    return this.#ready.first(this.state, 1).length + this.#ready.closing(this.state, 1).length > 0;
  }

  beginBatch(at: string): Batch {
    for (const map of this.#maps) map.begin();
    return { seqBefore: this.state.seq, at, drafts: [], recorded: [], decided: [] };
  }

  record(event: Event, { actor, settles, cause }: EntryOrigin, trial: Batch): RecordedEvent {
    const seq = this.state.seq + 1;
    const recorded: RecordedEvent = {
      ...event,
      seq,
      at: trial.at,
      actor,
      ...(settles === undefined ? {} : { settles }),
    };
    // All drafts of a trial go into one call, in the order of their numbers.
    const because = cause === undefined ? undefined : { draft: cause.seq - trial.seqBefore - 1 };
    trial.drafts.push(toLedgerDraft(event, actor, settles, because));
    trial.recorded.push(recorded);
    this.#evolve(recorded);
    return recorded;
  }

  /** What follows from what was decided belongs to it, and goes into the same commit. */
  react(decided: readonly RecordedEvent[], trial: Batch): void {
    const tools = { newId: randomUUID, at: trial.at, ready: this.#ready, rules: this.#rules };
    reactUntilQuiet(
      decided,
      (recorded) => react(this.state, recorded, tools),
      (event, cause) => this.record(event, { actor: 'system:engine', cause }, trial),
    );
  }

  rollBack({ seqBefore: before, recorded }: Batch): void {
    for (const map of this.#maps) map.revert();
    this.state.seq = before;
    for (const each of recorded) this.#ready.note(this.state, each);
  }

  /** What the ledger has, folded in; what it says of tasks and runs is handed back. */
  fold(entries: readonly Entry[]): readonly RecordedEvent[] {
    const folded: RecordedEvent[] = [];
    for (const entry of entries) {
      const recorded = toRecordedEvent(entry);
      if (recorded !== undefined) {
        this.#evolve(recorded);
        folded.push(recorded);
      }
      this.state.seq = entry.seq;
    }
    return folded;
  }

  #evolve(recorded: RecordedEvent): void {
    evolve(this.state, recorded);
    this.#ready.note(this.state, recorded);
  }
}
