import type { Entry } from '../ledger/entry.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Problem } from '../protocol/problem.ts';
import type { Recorded } from '../state/event.ts';
import type { Outcome } from '../state/outcome.ts';
import { restsOnSilence } from '../state/rests-on-silence.ts';
import type { Rules } from '../state/rules.ts';
import type { State } from '../state/state.ts';
import type { CommitClock } from './commit-clock.ts';
import { findUnfit } from './find-unfit.ts';
import { MESSAGES_WAIT, NO_MESSAGES, type KeptMessages } from './kept-messages.ts';
import { LATER, type Request, type Settled, type View } from './request.ts';
import { INTERNAL } from './respond.ts';
import { StateAhead } from './state-ahead.ts';
import { answerAll, FailedReaction, isWhatWasTried, type Decided, type Trial, type Waiting } from './trial.ts';
import { WaitingRoom } from './waiting-room.ts';

/**
 * One project's loop: the only place where commands meet the state. Whatever has arrived is decided, one request after the
 * other, on a state that runs ahead; then all of it is recorded in one commit; then everybody is answered. Reads take the same
 * way while anything is under way, so that nobody is told what is not durable. Those who wait for work are served in the commit
 * that makes the work.
 */
export class Keeper {
  readonly #ledger: Ledger;
  readonly #ahead: StateAhead;
  readonly #clock: CommitClock;
  readonly #onRecorded: (recorded: readonly Recorded[]) => void;
  readonly #onMistake: (error: unknown) => void;
  readonly #messages: KeptMessages;
  readonly #queue: Waiting[] = [];
  readonly #room = new WaitingRoom();
  readonly #foreign: Entry[] = [];
  /** Judgements that wait for kept messages. */
  readonly #behind = new Set<Waiting>();
  #draining: Promise<void> | undefined;

  constructor(options: KeeperOptions) {
    this.#ledger = options.ledger;
    this.#ahead = new StateAhead(options.state, options.rules);
    this.#clock = options.clock;
    this.#onRecorded = options.onRecorded;
    this.#onMistake = options.onMistake;
    this.#messages = options.messages ?? NO_MESSAGES;
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
      return { ok: true, answer: afterwards(this.#ahead.state) };
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL };
    }
  }

  /** Looks at the state, after everything that was said before is durable. */
  async read<A>(look: (view: View) => A): Promise<Settled<A>> {
    // Nothing is under way: all that was said is durable, and there is nothing to wait for.
    if (this.#draining === undefined) return this.#lookNow(look);
    return this.submit({ actor: 'system:reader', decide: (view) => ({ ok: true, events: [], answer: look(view) }) });
  }

  #lookNow<A>(look: (view: View) => A): Settled<A> {
    try {
      return { ok: true, answer: look(this.#ahead.view(this.#clock.read().toISOString())) };
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL };
    }
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
      const trial = this.#ahead.begin(this.#clock.pin());
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
    for (const waiting of this.#room) {
      const isForWork = waiting.request.waitsFor === 'work';
      // Claims use work up and make none: once there is nothing, there is nothing for the rest of them.
      isDry ||= isForWork && !this.#ahead.hasWork;
      if (!isForWork || !isDry) this.#tryOne(waiting, trial);
    }
  }

  #tryOne(waiting: Waiting, trial: Trial): void {
    const { key, actor } = waiting.request;
    const { settled } = this.#ahead.state;
    if (key !== undefined && settled.has(key)) {
      this.#conclude({ waiting, settled: { ok: true, answer: settled.get(key) }, ...NOTHING_TO_RECORD }, trial);
      return;
    }
    const outcome = this.#ask(waiting, trial.at);
    if (outcome === LATER) {
      this.#room.park(waiting);
      return;
    }
    if (!outcome.ok) {
      this.#conclude({ waiting, settled: outcome, ...NOTHING_TO_RECORD }, trial);
      return;
    }
    if (restsOnSilence(outcome.events) && waiting.request.isKept !== true && this.#messages.areWaiting()) {
      this.#room.leave(waiting);
      this.#behind.add(waiting);
      void this.#afterMessages(waiting);
      return;
    }
    const from = trial.drafts.length;
    const decided = outcome.events.map((event, i) => {
      const settles = i === 0 && key !== undefined ? { settles: { key, answer: outcome.answer } } : {};
      return this.#ahead.record(event, { actor, ...settles }, trial);
    });
    this.#react(decided, waiting, trial);
    const drafts = trial.drafts.slice(from);
    this.#conclude({ waiting, settled: { ok: true, answer: outcome.answer }, drafts, from }, trial);
  }

  /** The judgement is decided again on what the messages say; while they cannot be recorded, it cannot either. */
  async #afterMessages(waiting: Waiting): Promise<void> {
    const isDrained = await this.#messages.drain().catch((error: unknown) => {
      this.#onMistake(error);
      return false;
    });
    this.#behind.delete(waiting);
    if (isDrained) this.#enqueue(waiting);
    else waiting.answer({ ok: false, problem: MESSAGES_WAIT });
  }

  #react(decided: readonly Recorded[], waiting: Waiting, trial: Trial): void {
    try {
      this.#ahead.react(decided, trial);
    } catch (error) {
      throw new FailedReaction(waiting, error);
    }
  }

  #conclude(decided: Decided, trial: Trial): void {
    this.#room.leave(decided.waiting);
    trial.decided.push(decided);
  }

  /** A mistake in one decision is its own: whoever shares the commit hears nothing of it. */
  #ask({ request }: Waiting, at: string): Outcome<unknown> | typeof LATER {
    try {
      return request.decide(this.#ahead.view(at));
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
    this.#ahead.takeBack(trial);
    const asked = [...batch, ...trial.decided.map(({ waiting }) => waiting)];
    const all = new Set(asked.filter((waiting) => !this.#behind.has(waiting)));
    const failed = culprit === undefined ? all : new Set([culprit]);
    for (const waiting of failed) {
      this.#room.leave(waiting);
      waiting.answer({ ok: false, refusal: INTERNAL });
    }
    this.#queue.unshift(...[...all].filter((waiting) => !failed.has(waiting) && !this.#room.has(waiting)));
  }

  async #settle(trial: Trial): Promise<void> {
    const result = trial.drafts.length === 0 ? NOTHING_RECORDED : await this.#ledger.append(trial.drafts);
    this.#clock.unpin();
    if (result.ok && isWhatWasTried(result.entries, trial)) {
      this.#announce(trial.recorded);
      answerAll(trial.decided);
      return;
    }
    this.#ahead.takeBack(trial);
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
  #answerUnrecorded({ decided, at }: Trial, problem: Problem): void {
    const { head, secrets } = this.#ledger;
    const unfit = decided.map((each) => findUnfit(each, head.size, secrets));
    const isTheirs = unfit.some((found) => found !== undefined);
    const again: Waiting[] = [];
    for (const [i, { waiting, drafts }] of decided.entries()) {
      const found = unfit[i];
      if (found !== undefined) waiting.answer({ ok: false, refusal: found });
      else if (isTheirs) again.push(waiting);
      else if (drafts.length > 0 || !this.#answerWithoutStore(waiting, at)) waiting.answer({ ok: false, problem });
    }
    this.#queue.unshift(...again);
  }

  /** A read shared the commit of others: it is answered from what is durable, so that people see how things stand. */
  #answerWithoutStore(waiting: Waiting, at: string): boolean {
    const { key } = waiting.request;
    const { settled } = this.#ahead.state;
    const outcome =
      key !== undefined && settled.has(key)
        ? ({ ok: true, events: [], answer: settled.get(key) } as const)
        : this.#ask(waiting, at);
    if (outcome === LATER) this.#room.park(waiting);
    else if (outcome.ok && outcome.events.length > 0) return false;
    else waiting.answer(outcome.ok ? { ok: true, answer: outcome.answer } : outcome);
    return true;
  }

  #foldForeign(): void {
    this.#fold(this.#foreign.splice(0).filter(({ seq }) => seq > this.#ahead.state.seq));
  }

  #fold(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    this.#announce(this.#ahead.fold(entries));
    for (const waiting of this.#room.empty()) this.#enqueue(waiting);
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
  /** Left out if no messages are kept for this project. */
  readonly messages?: KeptMessages;
}

/** Requests decided for one commit: enough to fill it, few enough that nobody waits long for the others. */
const BATCH = 500;

/** Little can have large consequences: with so many entries a commit takes no further requests, or the ledger would refuse it whole. */
const FULL = 4000;

const NOTHING_RECORDED = { ok: true, entries: [] } as const;

const NOTHING_TO_RECORD = { drafts: [], from: 0 } as const;
