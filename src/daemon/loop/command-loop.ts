import type { Entry } from '../../ledger/format/entry.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { judgesBySilence, type Outcome } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import { INTERNAL_ERROR } from '../http/refusals.ts';
import {
  type CommandRequest,
  type CommandResult,
  type CommitClock,
  type DecideContext,
  EARLIER_MESSAGES_UNRECORDED,
  type KeptMessages,
  LATER,
  NO_KEPT_MESSAGES,
} from './request.ts';
import {
  answerAll,
  type Batch,
  type DecidedRequest,
  FailedReaction,
  findUnrecordable,
  isRecordedAsDecided,
  type PendingRequest,
  SpeculativeState,
} from './speculative-state.ts';
import { WaitList } from './wait-list.ts';

/**
 * One project's loop: the only place where commands meet the state. Whatever has arrived is decided, one request after the
 * other, on a state that runs ahead; then all of it is recorded in one commit; then everybody is answered. Reads take the same
 * way while anything is under way, so that nobody is told what is not durable. Those who wait for work are served in the commit
 * that makes the work.
 */
export class CommandLoop {
  readonly #ledger: Ledger;
  readonly #speculative: SpeculativeState;
  readonly #clock: CommitClock;
  readonly #onRecorded: (recorded: readonly RecordedEvent[]) => void;
  readonly #onMistake: (error: unknown) => void;
  readonly #messages: KeptMessages;
  readonly #queue: PendingRequest[] = [];
  readonly #waitList = new WaitList();
  readonly #foreign: Entry[] = [];
  /** Judgements that wait for kept messages. */
  readonly #behindMessages = new Set<PendingRequest>();
  #draining: Promise<void> | undefined;

  constructor(options: CommandLoopOptions) {
    this.#ledger = options.ledger;
    this.#speculative = new SpeculativeState(options.state, options.rules);
    this.#clock = options.clock;
    this.#onRecorded = options.onRecorded;
    this.#onMistake = options.onInternalError;
    this.#messages = options.messages ?? NO_KEPT_MESSAGES;
  }

  async submit<A>(request: CommandRequest<A>): Promise<CommandResult<A>> {
    return new Promise((answer) => {
      // Answers of all kinds share one queue; each comes back through the closure that knows its own.
      const waiting: PendingRequest = {
        request,
        answer: (settled) => {
          clearTimeout(waiting.timer);
          answer((settled.ok ? this.#readAfterCommit(request) : undefined) ?? (settled as CommandResult<A>)); // oxlint-disable-line typescript/no-unsafe-type-assertion
        },
      };
      this.#enqueue(waiting);
    });
  }

  /** What was recorded stands, also where the look at what came of it fails. */
  #readAfterCommit<A>({ answerAfterCommit: afterwards }: CommandRequest<A>): CommandResult<A> | undefined {
    if (afterwards === undefined) return undefined;
    try {
      return { ok: true, answer: afterwards(this.#speculative.state) };
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL_ERROR };
    }
  }

  /** Looks at the state, after everything that was said before is durable. */
  async read<A>(look: (view: DecideContext) => A): Promise<CommandResult<A>> {
    // Nothing is under way: all that was said is durable, and there is nothing to wait for.
    if (this.#draining === undefined) return this.#readNow(look);
    return this.submit({ actor: 'system:reader', decide: (view) => ({ ok: true, events: [], answer: look(view) }) });
  }

  #readNow<A>(look: (view: DecideContext) => A): CommandResult<A> {
    try {
      return { ok: true, answer: look(this.#speculative.view(this.#clock.read().toISOString())) };
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL_ERROR };
    }
  }

  /** Everything the ledger reports, our own entries included. In the middle of a commit it waits for the end of that. */
  receiveEntries(entries: readonly Entry[]): void {
    this.#foreign.push(...entries);
    if (this.#draining === undefined) this.#foldForeign();
  }

  async whenIdle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  #enqueue(waiting: PendingRequest): void {
    this.#queue.push(waiting);
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      // A turn of the event loop, in which whatever has arrived by now joins the batch.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      const batch = this.#queue.splice(0, MAX_BATCH_REQUESTS);
      const trial = this.#speculative.beginBatch(this.#clock.pin());
      try {
        this.#decide(batch, trial);
        await this.#commit(trial);
      } catch (error) {
        this.#failBatch(batch, trial, error);
      }
      this.#foldForeign();
    }
    this.#draining = undefined;
  }

  /** Decides the batch on the state that runs ahead, then serves those who wait, as far as the batch made work. */
  #decide(batch: PendingRequest[], trial: Batch): void {
    for (const [i, waiting] of batch.entries()) {
      if (trial.drafts.length > MAX_BATCH_ENTRIES) {
        this.#queue.unshift(...batch.splice(i));
        break;
      }
      this.#decideOne(waiting, trial);
    }
    if (trial.recorded.length === 0) return;
    let isDry = false;
    for (const waiting of this.#waitList) {
      const isForWork = waiting.request.waitsFor === 'work';
      // Claims use work up and make none: once there is nothing, there is nothing for the rest of them.
      isDry ||= isForWork && !this.#speculative.hasWork;
      if (!isForWork || !isDry) this.#decideOne(waiting, trial);
    }
  }

  #decideOne(waiting: PendingRequest, trial: Batch): void {
    const { key, actor } = waiting.request;
    const { settled } = this.#speculative.state;
    if (key !== undefined && settled.has(key)) {
      this.#addDecided({ waiting, settled: { ok: true, answer: settled.get(key) }, ...NOTHING_TO_RECORD }, trial);
      return;
    }
    const outcome = this.#callDecide(waiting, trial.at);
    if (outcome === LATER) {
      this.#waitList.add(waiting);
      return;
    }
    if (!outcome.ok) {
      this.#addDecided({ waiting, settled: outcome, ...NOTHING_TO_RECORD }, trial);
      return;
    }
    if (judgesBySilence(outcome.events) && waiting.request.isKept !== true && this.#messages.areWaiting()) {
      this.#waitList.remove(waiting);
      this.#behindMessages.add(waiting);
      void this.#retryAfterMessages(waiting);
      return;
    }
    const from = trial.drafts.length;
    const decided = outcome.events.map((event, i) => {
      const settles = i === 0 && key !== undefined ? { settles: { key, answer: outcome.answer } } : {};
      return this.#speculative.record(event, { actor, ...settles }, trial);
    });
    this.#react(decided, waiting, trial);
    const drafts = trial.drafts.slice(from);
    this.#addDecided({ waiting, settled: { ok: true, answer: outcome.answer }, drafts, from }, trial);
  }

  /** The judgement is decided again on what the messages say; while they cannot be recorded, it cannot either. */
  async #retryAfterMessages(waiting: PendingRequest): Promise<void> {
    const isDrained = await this.#messages.drain().catch((error: unknown) => {
      this.#onMistake(error);
      return false;
    });
    this.#behindMessages.delete(waiting);
    if (isDrained) this.#enqueue(waiting);
    else waiting.answer({ ok: false, problem: EARLIER_MESSAGES_UNRECORDED });
  }

  #react(decided: readonly RecordedEvent[], waiting: PendingRequest, trial: Batch): void {
    try {
      this.#speculative.react(decided, trial);
    } catch (error) {
      throw new FailedReaction(waiting, error);
    }
  }

  #addDecided(decided: DecidedRequest, trial: Batch): void {
    this.#waitList.remove(decided.waiting);
    trial.decided.push(decided);
  }

  /** A mistake in one decision is its own: whoever shares the commit hears nothing of it. */
  #callDecide({ request }: PendingRequest, at: string): Outcome<unknown> | typeof LATER {
    try {
      return request.decide(this.#speculative.view(at));
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL_ERROR };
    }
  }

  /**
   * What cannot happen has happened, and nothing of the batch was told to anybody. Where it is known whose fault it was, only they hear of
   * it, and the others are tried again; the loop goes on.
   */
  #failBatch(batch: readonly PendingRequest[], trial: Batch, error: unknown): void {
    const culprit = error instanceof FailedReaction ? error.waiting : undefined;
    this.#onMistake(error instanceof FailedReaction ? error.cause : error);
    this.#clock.unpin();
    this.#speculative.rollBack(trial);
    const asked = [...batch, ...trial.decided.map(({ waiting }) => waiting)];
    const all = new Set(asked.filter((waiting) => !this.#behindMessages.has(waiting)));
    const failed = culprit === undefined ? all : new Set([culprit]);
    for (const waiting of failed) {
      this.#waitList.remove(waiting);
      waiting.answer({ ok: false, refusal: INTERNAL_ERROR });
    }
    this.#queue.unshift(...[...all].filter((waiting) => !failed.has(waiting) && !this.#waitList.has(waiting)));
  }

  async #commit(trial: Batch): Promise<void> {
    const result = trial.drafts.length === 0 ? NOTHING_RECORDED : await this.#ledger.append(trial.drafts);
    this.#clock.unpin();
    if (result.ok && isRecordedAsDecided(result.entries, trial)) {
      this.#announce(trial.recorded);
      answerAll(trial.decided);
      return;
    }
    this.#speculative.rollBack(trial);
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
  #answerUnrecorded({ decided, at }: Batch, problem: Problem): void {
    const { head, secrets } = this.#ledger;
    const unfit = decided.map((each) => findUnrecordable(each, head.size, secrets));
    const isTheirs = unfit.some((found) => found !== undefined);
    const again: PendingRequest[] = [];
    for (const [i, { waiting, drafts }] of decided.entries()) {
      const found = unfit[i];
      if (found !== undefined) waiting.answer({ ok: false, refusal: found });
      else if (isTheirs) again.push(waiting);
      else if (drafts.length > 0 || !this.#answerWithoutStore(waiting, at)) waiting.answer({ ok: false, problem });
    }
    this.#queue.unshift(...again);
  }

  /** A read shared the commit of others: it is answered from what is durable, so that people see how things stand. */
  #answerWithoutStore(waiting: PendingRequest, at: string): boolean {
    const { key } = waiting.request;
    const { settled } = this.#speculative.state;
    const outcome =
      key !== undefined && settled.has(key)
        ? ({ ok: true, events: [], answer: settled.get(key) } as const)
        : this.#callDecide(waiting, at);
    if (outcome === LATER) this.#waitList.add(waiting);
    else if (outcome.ok && outcome.events.length > 0) return false;
    else waiting.answer(outcome.ok ? { ok: true, answer: outcome.answer } : outcome);
    return true;
  }

  #foldForeign(): void {
    this.#fold(this.#foreign.splice(0).filter(({ seq }) => seq > this.#speculative.state.seq));
  }

  #fold(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    this.#announce(this.#speculative.fold(entries));
    for (const waiting of this.#waitList.removeAll()) this.#enqueue(waiting);
  }

  /** What is recorded stands, whatever those who follow it make of it. */
  #announce(recorded: readonly RecordedEvent[]): void {
    if (recorded.length === 0) return;
    try {
      this.#onRecorded(recorded);
    } catch (error) {
      this.#onMistake(error);
    }
  }
}

export interface CommandLoopOptions {
  readonly ledger: Ledger;
  /** Made with `TrackedMap`s. */
  readonly state: State;
  readonly rules: Rules;
  readonly clock: CommitClock;
  /** What is now durable, in order, from here or from elsewhere; called before anybody is answered. */
  readonly onRecorded: (recorded: readonly RecordedEvent[]) => void;
  /** Something threw that must not: for the log. */
  readonly onInternalError: (error: unknown) => void;
  /** Left out if no messages are kept for this project. */
  readonly messages?: KeptMessages;
}

/** Requests decided for one commit: enough to fill it, few enough that nobody waits long for the others. */
const MAX_BATCH_REQUESTS = 500;

/** Little can have large consequences: with so many entries a commit takes no further requests, or the ledger would refuse it whole. */
const MAX_BATCH_ENTRIES = 4000;

const NOTHING_RECORDED = { ok: true, entries: [] } as const;

const NOTHING_TO_RECORD = { drafts: [], from: 0 } as const;
