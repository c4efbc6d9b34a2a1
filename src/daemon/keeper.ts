import { randomUUID } from 'node:crypto';
import { reactUntilQuiet } from '../engine/react-until-quiet.ts';
import { react } from '../engine/react.ts';
import { prepareDraft, type Draft } from '../ledger/draft.ts';
import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Problem } from '../protocol/problem.ts';
import type { Event, Recorded } from '../state/event.ts';
import type { Outcome, Refusal } from '../state/outcome.ts';
import { readyTasks, type Ready } from '../state/ready.ts';
import type { CommitClock } from './commit-clock.ts';
import { LATER, type Request, type Settled, type View } from './request.ts';
import {
  answerAll,
  FailedReaction,
  isWhatWasTried,
  type Decided,
  type Origin,
  type Trial,
  type Waiting,
} from './trial.ts';
import { INTERNAL } from './respond.ts';
import { draftOf, recordedOf } from '../state/recorded.ts';
import type { Rules } from '../state/rules.ts';
import { evolve, type State } from '../state/state.ts';
import { TrackedMap } from '../state/tracked-map.ts';

/**
 * One project's loop: the only place where commands meet the state. Whatever has arrived is decided, one request after the
 * other, on a state that runs ahead; then all of it is recorded in one commit; then everybody is answered. Reads take the same
 * way, so that nobody is told what is not durable. Those who wait for work are served in the commit that makes the work.
 */
export class Keeper {
  readonly #ledger: Ledger;
  readonly #state: State;
  readonly #rules: Rules;
  readonly #ready: Ready;
  readonly #clock: CommitClock;
  readonly #onRecorded: (recorded: readonly Recorded[]) => void;
  readonly #onMistake: (error: unknown) => void;
  readonly #maps: readonly TrackedMap<string, unknown>[];
  readonly #queue: Waiting[] = [];
  /** Those who wait for something to happen, in the order in which they came. */
  readonly #parked = new Set<Waiting>();
  readonly #foreign: Entry[] = [];
  #draining: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#ledger = options.ledger;
    this.#state = options.state;
    this.#rules = options.rules;
    this.#clock = options.clock;
    this.#onRecorded = options.onRecorded;
    this.#onMistake = options.onMistake;
    this.#maps = mapsOf(options.state);
    this.#ready = readyTasks(options.state, options.rules);
  }

  async submit<A>(request: Request<A>): Promise<Settled<A>> {
    return new Promise((answer) => {
      // Answers of all kinds share one queue; each comes back through the closure that knows its own.
      const waiting: Waiting = {
        request,
        answer: (settled) => {
          clearTimeout(waiting.timer);
          answer((settled.ok ? this.#lookAfterwards(request) : undefined) ?? (settled as Settled<A>)); // oxlint-disable-line typescript/no-unsafe-type-assertion
        },
      };
      this.#enqueue(waiting);
    });
  }

  /** What was recorded stands, also where the look at what came of it fails. */
  #lookAfterwards<A>({ afterwards }: Request<A>): Settled<A> | undefined {
    if (afterwards === undefined) return undefined;
    try {
      return { ok: true, answer: afterwards(this.#state) };
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL };
    }
  }

  /** Looks at the state, after everything that was said before is durable. */
  async read<A>(look: (view: View) => A): Promise<Settled<A>> {
    return this.submit({ actor: 'system:reader', decide: (view) => ({ ok: true, events: [], answer: look(view) }) });
  }

  /** Everything the ledger reports, our own entries included. In the middle of a commit it waits for the end of that. */
  take(entries: readonly Entry[]): void {
    this.#foreign.push(...entries);
    if (this.#draining === undefined) this.#foldForeign();
  }

  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #enqueue(waiting: Waiting): void {
    this.#queue.push(waiting);
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // A turn of the event loop, in which whatever has arrived by now joins the batch.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      const batch = this.#queue.splice(0, BATCH);
      const trial = this.#begin();
      try {
        this.#decide(batch, trial);
        await this.#settle(trial);
      } catch (error) {
        this.#fail(batch, trial, error);
      }
      this.#foldForeign();
    }
    this.#draining = undefined;
  }

  #begin(): Trial {
    for (const map of this.#maps) map.begin();
    return { before: this.#state.seq, at: this.#clock.pin(), drafts: [], recorded: [], decided: [] };
  }

  /** Decides the batch on the state that runs ahead, then serves those who wait, as far as the batch made work. */
  #decide(batch: Waiting[], trial: Trial): void {
    for (const [i, waiting] of batch.entries()) {
      if (trial.drafts.length > FULL) {
        this.#queue.unshift(...batch.splice(i));
        break;
      }
      this.#tryOne(waiting, trial);
    }
    if (trial.recorded.length === 0) return;
    let isDry = false;
    for (const waiting of this.#parked) {
      const isForWork = waiting.request.waitsFor === 'work';
      // Claims use work up and make none: once there is nothing, there is nothing for the rest of them.
      isDry ||= isForWork && this.#isIdle();
      if (!isForWork || !isDry) this.#tryOne(waiting, trial);
    }
  }

  /** There is nothing to claim, and nothing to close. */
  #isIdle(): boolean {
    return this.#ready.first(this.#state, 1).length + this.#ready.closing(this.#state, 1).length === 0;
  }

  #tryOne(waiting: Waiting, trial: Trial): void {
    const { key, actor } = waiting.request;
    if (key !== undefined && this.#state.settled.has(key)) {
      this.#conclude(
        { waiting, settled: { ok: true, answer: this.#state.settled.get(key) }, ...NOTHING_TO_RECORD },
        trial,
      );
      return;
    }
    const outcome = this.#ask(waiting, trial.at);
    if (outcome === LATER) {
      this.#park(waiting);
      return;
    }
    if (!outcome.ok) {
      this.#conclude({ waiting, settled: outcome, ...NOTHING_TO_RECORD }, trial);
      return;
    }
    const from = trial.drafts.length;
    const decided = outcome.events.map((event, i) => {
      const settles = i === 0 && key !== undefined ? { settles: { key, answer: outcome.answer } } : {};
      return this.#record(event, { actor, ...settles }, trial);
    });
    this.#react(decided, waiting, trial);
    const drafts = trial.drafts.slice(from);
    this.#conclude({ waiting, settled: { ok: true, answer: outcome.answer }, drafts, from }, trial);
  }

  /** What follows from what was decided belongs to it, and goes into the same commit. */
  #react(decided: readonly Recorded[], waiting: Waiting, trial: Trial): void {
    const tools = { newId: randomUUID, at: trial.at, ready: this.#ready, rules: this.#rules };
    try {
      reactUntilQuiet(
        decided,
        (recorded) => react(this.#state, recorded, tools),
        (event, cause) => this.#record(event, { actor: 'system:engine', cause }, trial),
      );
    } catch (error) {
      throw new FailedReaction(waiting, error);
    }
  }

  #record(event: Event, { actor, settles, cause }: Origin, trial: Trial): Recorded {
    const seq = this.#state.seq + 1;
    const recorded: Recorded = { ...event, seq, at: trial.at, actor, ...(settles === undefined ? {} : { settles }) };
    // All drafts of a trial go into one call, in the order of their numbers.
    const because = cause === undefined ? undefined : { draft: cause.seq - trial.before - 1 };
    trial.drafts.push(draftOf(event, actor, settles, because));
    trial.recorded.push(recorded);
    this.#evolve(recorded);
    return recorded;
  }

  #conclude(decided: Decided, trial: Trial): void {
    this.#parked.delete(decided.waiting);
    trial.decided.push(decided);
  }

  /** A mistake in one decision is its own: whoever shares the commit hears nothing of it. */
  #ask({ request }: Waiting, at: string): Outcome<unknown> | typeof LATER {
    try {
      return request.decide({ state: this.#state, ready: this.#ready, rules: this.#rules, at });
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL };
    }
  }

  /**
   * What cannot happen has happened, and nothing of the batch was told to anybody. Where it is known whose fault it was, only they hear of
   * it, and the others are tried again; the loop goes on.
   */
  #fail(batch: readonly Waiting[], trial: Trial, error: unknown): void {
    const culprit = error instanceof FailedReaction ? error.waiting : undefined;
    this.#onMistake(error instanceof FailedReaction ? error.cause : error);
    this.#clock.unpin();
    this.#takeBack(trial);
    const served = trial.decided.map(({ waiting }) => waiting);
    const again: Waiting[] = [];
    for (const waiting of new Set([...batch, ...served, ...(culprit === undefined ? [] : [culprit])])) {
      if (culprit !== undefined && waiting !== culprit && !this.#parked.has(waiting)) again.push(waiting);
      if (culprit !== undefined && waiting !== culprit) continue;
      this.#parked.delete(waiting);
      waiting.answer({ ok: false, refusal: INTERNAL });
    }
    this.#queue.unshift(...again);
  }

  async #settle(trial: Trial): Promise<void> {
    const result = trial.drafts.length === 0 ? NOTHING_RECORDED : await this.#ledger.append(trial.drafts);
    this.#clock.unpin();
    if (result.ok && isWhatWasTried(result.entries, trial)) {
      this.#announce(trial.recorded);
      answerAll(trial.decided);
      return;
    }
    this.#takeBack(trial);
    if (result.ok) {
      // What was recorded stands: with other numbers, where other entries came in between, and without what was redacted.
      this.#fold(result.entries.map(({ entry }) => entry));
      answerAll(trial.decided);
    } else if ('problem' in result) {
      this.#answerUnrecorded(trial, result.problem);
    } else {
      this.#queue.unshift(...trial.decided.map(({ waiting }) => waiting));
    }
  }

  /** What no ledger could record is the fault of whoever said it, and of nobody who shared the commit: they are tried again. */
  #answerUnrecorded({ decided }: Trial, problem: Problem): void {
    const unfit = decided.map(({ drafts, from }) => this.#findUnfit(drafts, from));
    const isTheirs = unfit.some((found) => found !== undefined);
    const again: Waiting[] = [];
    for (const [i, { waiting }] of decided.entries()) {
      const found = unfit[i];
      if (found !== undefined) waiting.answer({ ok: false, refusal: found });
      else if (isTheirs) again.push(waiting);
      else waiting.answer({ ok: false, problem });
    }
    this.#queue.unshift(...again);
  }

  #findUnfit(drafts: readonly Draft[], from: number): Refusal | undefined {
    for (const [i, draft] of drafts.entries()) {
      const prepared = prepareDraft(draft, { position: from + i, size: this.#ledger.head.size });
      if (prepared.ok) continue;
      const [{ code, message }] = prepared.problems;
      if (code === 'ledger/entry-too-large') return { code: 'too-large', message, hint: SAY_LESS };
      return { code: 'bad-request', message, hint: 'Whole numbers, valid text, and not too deep: see docs/api.md' };
    }
    return undefined;
  }

  #takeBack(trial: Trial): void {
    for (const map of this.#maps) map.revert();
    this.#state.seq = trial.before;
    for (const recorded of trial.recorded) this.#ready.note(this.#state, recorded);
  }

  #foldForeign(): void {
    this.#fold(this.#foreign.splice(0).filter(({ seq }) => seq > this.#state.seq));
  }

  #fold(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    const folded: Recorded[] = [];
    for (const entry of entries) {
      const recorded = recordedOf(entry);
      if (recorded !== undefined) {
        this.#evolve(recorded);
        folded.push(recorded);
      }
      this.#state.seq = entry.seq;
    }
    this.#announce(folded);
    for (const waiting of this.#parked) this.#enqueue(waiting);
    this.#parked.clear();
  }

  /** What is recorded stands, whatever those who follow it make of it. */
  #announce(recorded: readonly Recorded[]): void {
    if (recorded.length === 0) return;
    try {
      this.#onRecorded(recorded);
    } catch (error) {
      this.#onMistake(error);
    }
  }

  #evolve(recorded: Recorded): void {
    evolve(this.#state, recorded);
    this.#ready.note(this.#state, recorded);
  }

  #park(waiting: Waiting): void {
    const { patience } = waiting.request;
    // Whoever has gone already sends no further word: there is no abort to wait for.
    if (patience === undefined || waiting.isTired || patience.signal?.aborted === true) {
      this.#parked.delete(waiting);
      waiting.answer(patience?.otherwise ?? { ok: false, refusal: NOTHING_YET });
      return;
    }
    this.#parked.add(waiting);
    if (waiting.timer !== undefined) return;
    const giveUp = (): void => this.#giveUp(waiting);
    waiting.timer = setTimeout(giveUp, patience.ms);
    patience.signal?.addEventListener('abort', giveUp, { once: true });
  }

  #giveUp(waiting: Waiting): void {
    waiting.isTired = true;
    if (!this.#parked.delete(waiting)) return;
    waiting.answer(waiting.request.patience?.otherwise ?? { ok: false, refusal: NOTHING_YET });
  }
}

export interface KeeperOptions {
  readonly ledger: Ledger;
  /** Made with `TrackedMap`s. */
  readonly state: State;
  readonly rules: Rules;
  readonly clock: CommitClock;
  /** What is now durable, in order, from here or from elsewhere; called before anybody is answered. */
  readonly onRecorded: (recorded: readonly Recorded[]) => void;
  /** Something threw that must not: for the log. */
  readonly onMistake: (error: unknown) => void;
}

/** Requests decided for one commit: enough to fill it, few enough that nobody waits long for the others. */
const BATCH = 500;

/** Little can have large consequences: with so many entries a commit takes no further requests, or the ledger would refuse it whole. */
const FULL = 4000;

const NOTHING_RECORDED = { ok: true, entries: [] } as const;

const NOTHING_TO_RECORD = { drafts: [], from: 0 } as const;

const SAY_LESS = 'Say less, or name a file instead of sending its content.';

const NOTHING_YET: Refusal = {
  code: 'nothing-yet',
  message: 'there is nothing to do yet',
  hint: 'Ask again with wait_ms.',
};

function mapsOf(state: State): TrackedMap<string, unknown>[] {
  return Object.values(state).filter((value) => value instanceof TrackedMap);
}
