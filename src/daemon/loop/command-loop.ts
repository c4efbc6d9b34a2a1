import type { Draft } from '../../ledger/format/draft.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import type { CommandKind } from '../../protocol/command-access.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { actorOf, type Caller } from '../../state/caller.ts';
import { type AnswerOf, type CommandOf, decide } from '../../state/decide.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { judgesBySilence, type Outcome, type Refusal } from '../../state/outcome.ts';
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
  draftsOf,
  FailedReaction,
  findUnrecordable,
  isRecordedAsDecided,
  type PendingRequest,
  SpeculativeState,
} from './speculative-state.ts';
import { WaitList } from './wait-list.ts';

/**
 * The command loop of one project: the only place that changes its state. It decides all requests that have arrived, one after the other, on a
 * state that runs ahead of the ledger; records their entries in one commit; and then answers them. While a commit is in progress, reads join the
 * queue, so that no caller sees an entry that is not durable. A request that waits for work is served in the commit that creates the work.
 *
 * Longer than 300 lines, because deciding, recording and answering a batch share the queue and the state.
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
  /** Requests that wait until the messages in the outbox are recorded. */
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
      const waiting: PendingRequest = {
        request,
        answer: (settled) => {
          clearTimeout(waiting.timer);
          const { answerAfterCommit: afterwards } = request;
          const isRead = settled.ok && afterwards !== undefined;
          // One queue holds requests with different types of answers; this closure knows the type of its own.
          answer(isRead ? this.#guard(() => afterwards(this.#speculative.state)) : (settled as CommandResult<A>)); // oxlint-disable-line typescript/no-unsafe-type-assertion
        },
      };
      this.#enqueue(waiting);
    });
  }

  /** Submits one command, decided by the kernel as it stands. */
  async submitCommand<K extends CommandKind>(
    command: CommandOf<K>,
    caller: Caller,
    options: Pick<CommandRequest<unknown>, 'key'> = {},
  ): Promise<CommandResult<AnswerOf<K>>> {
    return this.submit({
      actor: actorOf(caller),
      ...options,
      decide: ({ state, rules }) => decide(state, command, caller, rules),
    });
  }

  /** Reads the state once every earlier request is durable. */
  async read<A>(look: (view: DecideContext) => A): Promise<CommandResult<A>> {
    // No commit is in progress: everything is durable.
    if (this.#draining === undefined)
      return this.#guard(() => look(this.#speculative.view(this.#clock.read().toISOString())));
    return this.submit({ actor: 'system:reader', decide: (view) => ({ ok: true, events: [], answer: look(view) }) });
  }

  /** A callback that throws fails only its own request: entries stay durable, and the other requests of the commit are served. */
  #guard<A>(
    call: () => A,
  ): { readonly ok: true; readonly answer: A } | { readonly ok: false; readonly refusal: Refusal } {
    try {
      return { ok: true, answer: call() };
    } catch (error) {
      this.#onMistake(error);
      return { ok: false, refusal: INTERNAL_ERROR };
    }
  }

  /** Receives every entry of the ledger, also those of this loop. During a commit, entries wait for its end. */
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
      // Lets requests that have arrived by now join the batch.
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

  /** Decides the batch, then the waiting requests if the batch changed anything. */
  #decide(batch: PendingRequest[], trial: Batch): void {
    for (const [i, waiting] of batch.entries()) {
      if (trial.steps.length > MAX_BATCH_ENTRIES) {
        this.#queue.unshift(...batch.splice(i));
        break;
      }
      this.#decideOne(waiting, trial);
    }
    if (trial.steps.length === 0) return;
    let isDry = false;
    for (const waiting of this.#waitList) {
      const isForWork = waiting.request.waitsFor === 'work';
      // A claim never creates work: once there is none, the remaining claims need not be tried.
      isDry ||= isForWork && !this.#speculative.hasWork;
      if (!isForWork || !isDry) this.#decideOne(waiting, trial);
    }
  }

  #decideOne(waiting: PendingRequest, trial: Batch): void {
    const { key, actor } = waiting.request;
    const outcome = this.#callDecide(waiting, trial.at);
    if (outcome === LATER) {
      this.#waitList.add(waiting);
      return;
    }
    if (!outcome.ok) {
      this.#addDecided({ waiting, settled: outcome, ...NO_STEPS }, trial);
      return;
    }
    if (judgesBySilence(outcome.events) && waiting.request.isKept !== true && this.#messages.areWaiting()) {
      this.#waitList.remove(waiting);
      this.#behindMessages.add(waiting);
      void this.#retryAfterMessages(waiting);
      return;
    }
    const from = trial.steps.length;
    const { answer, events } = outcome;
    try {
      this.#speculative.advance(events, key === undefined ? { actor } : { actor, settles: { key, answer } }, trial);
    } catch (error) {
      throw new FailedReaction(waiting, error);
    }
    this.#addDecided({ waiting, settled: { ok: true, answer }, from, to: trial.steps.length }, trial);
  }

  /** Decides the request again once the kept messages are recorded; refuses it if they cannot be recorded. */
  async #retryAfterMessages(waiting: PendingRequest): Promise<void> {
    const isDrained = await this.#messages.drain().catch((error: unknown) => {
      this.#onMistake(error);
      return false;
    });
    this.#behindMessages.delete(waiting);
    if (isDrained) this.#enqueue(waiting);
    else waiting.answer({ ok: false, problem: EARLIER_MESSAGES_UNRECORDED });
  }

  #addDecided(decided: DecidedRequest, trial: Batch): void {
    this.#waitList.remove(decided.waiting);
    trial.decided.push(decided);
  }

  /** Decides a request. A retry with a known key gets the first answer and records nothing. */
  #callDecide({ request }: PendingRequest, at: string): Outcome<unknown> | typeof LATER {
    const { key, decide: decideRequest } = request;
    const { settled } = this.#speculative.state;
    if (key !== undefined && settled.has(key)) return { ok: true, events: [], answer: settled.get(key) };
    const asked = this.#guard(() => decideRequest(this.#speculative.view(at)));
    return asked.ok ? asked.answer : asked;
  }

  /**
   * Internal error before anything was recorded or answered. If one request caused it, only that request fails and the others are tried again;
   * else all of them fail. The loop continues.
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
    const drafts = draftsOf(trial);
    const result = drafts.length === 0 ? NOTHING_RECORDED : await this.#ledger.append(drafts);
    this.#clock.unpin();
    if (result.ok && isRecordedAsDecided(result.entries, drafts, trial)) {
      this.#announce(trial.steps.map(({ recorded }) => recorded));
      answerAll(trial.decided);
      return;
    }
    this.#speculative.rollBack(trial);
    if (result.ok) {
      // The entries are durable, but differ from the trial: other numbers because of foreign entries in between, or redacted data.
      this.#fold(result.entries.map(({ entry }) => entry));
      answerAll(trial.decided);
    } else if ('problem' in result) {
      this.#answerUnrecorded(trial, drafts, result.problem);
    } else {
      this.#queue.unshift(...trial.decided.map(({ waiting }) => waiting));
    }
  }

  /** If some requests decided entries that no ledger could record, only those are refused; the others are tried again. */
  #answerUnrecorded({ decided, at }: Batch, drafts: readonly Draft[], problem: Problem): void {
    const { head, secrets } = this.#ledger;
    const unfit = decided.map((each) => findUnrecordable(drafts, each, head.size, secrets));
    const isTheirs = unfit.some((found) => found !== undefined);
    const again: PendingRequest[] = [];
    for (const [i, { waiting, from, to }] of decided.entries()) {
      const found = unfit[i];
      if (found !== undefined) waiting.answer({ ok: false, refusal: found });
      else if (isTheirs) again.push(waiting);
      else if (to > from || !this.#answerWithoutStore(waiting, at)) waiting.answer({ ok: false, problem });
    }
    this.#queue.unshift(...again);
  }

  /** Answers a read that shared a failed commit from the durable state. Returns false if the request wants to record something. */
  #answerWithoutStore(waiting: PendingRequest, at: string): boolean {
    const outcome = this.#callDecide(waiting, at);
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

  /** The entries are durable even if a follower throws. */
  #announce(recorded: readonly RecordedEvent[]): void {
    if (recorded.length === 0) return;
    try {
      this.#onRecorded(recorded);
    } catch (error) {
      this.#onMistake(error);
    }
  }
}

interface CommandLoopOptions {
  readonly ledger: Ledger;
  /** Its maps must be `TrackedMap`s. */
  readonly state: State;
  readonly rules: Rules;
  readonly clock: CommitClock;
  /** Receives durable entries in order, from this loop or from elsewhere, before requests are answered. */
  readonly onRecorded: (recorded: readonly RecordedEvent[]) => void;
  /** Receives unexpected exceptions, for the log. */
  readonly onInternalError: (error: unknown) => void;
  /** Left out if no messages are kept for this project. */
  readonly messages?: KeptMessages;
}

/** The most requests in one commit: enough to fill it, and few enough to keep answers quick. */
const MAX_BATCH_REQUESTS = 500;

/** From this many entries on, a commit takes no further requests: the ledger refuses a commit that is too large. */
const MAX_BATCH_ENTRIES = 4000;

const NOTHING_RECORDED = { ok: true, entries: [] } as const;

const NO_STEPS = { from: 0, to: 0 } as const;
