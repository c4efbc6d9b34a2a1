import { AboveLevel } from '../../engine/fleet/entry-level.ts';
import type { Draft } from '../../ledger/format/draft.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { CommandKind } from '../../protocol/command-access.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { actorOf, type Caller } from '../../state/caller.ts';
import { type AnswerOf, type CommandOf, decide } from '../../state/decide.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { judgesBySilence, type Outcome } from '../../state/outcome.ts';
import { INTERNAL_ERROR } from '../http/refusals.ts';
import { type Guard, makeGuard } from './guard.ts';
import { drainMessages, findHeld, goesBeforeKept, SetAside } from './hold-back.ts';
import {
  type CommandLoopOptions,
  type CommandRequest,
  type CommandResult,
  type DecideContext,
  type KeptMessages,
  LATER,
  MAX_BATCH_ENTRIES,
  MAX_BATCH_REQUESTS,
  NO_KEPT_MESSAGES,
} from './request.ts';
import {
  answerAll,
  type Batch,
  type DecidedRequest,
  draftsOf,
  FailedReaction,
  isRecordedAsDecided,
  type PendingRequest,
  refuseUnrecordable,
  SpeculativeState,
} from './speculative-state.ts';
import { WaitList } from './wait-list.ts';

/**
 * The command loop of one project, the only place that changes its state. It decides all waiting requests one after the
 * other, on a state that runs ahead of the ledger, records their entries in one commit, then answers them. During a
 * commit reads join the queue, so that no caller sees an entry that is not durable. A request that waits for work is
 * answered in the commit that creates the work.
 */
export class CommandLoop {
  readonly #options: CommandLoopOptions;
  readonly #speculative: SpeculativeState;
  readonly #messages: KeptMessages;
  readonly #queue: PendingRequest[] = [];
  readonly #waitList: WaitList;
  readonly #foreign: Entry[] = [];
  readonly #aside: SetAside;
  readonly #guard: Guard;
  #draining: Promise<void> | undefined;

  constructor(options: CommandLoopOptions) {
    this.#options = options;
    this.#speculative = new SpeculativeState(options.state, options.rules, options.here);
    this.#messages = options.messages ?? NO_KEPT_MESSAGES;
    const decideAgain = (waiting: PendingRequest): void => this.#enqueue(waiting);
    this.#waitList = new WaitList(decideAgain, () => this.#speculative.hasWork);
    this.#guard = makeGuard(options.onInternalError);
    this.#aside = new SetAside(decideAgain, options.onInternalError);
  }

  async submit<A>(request: CommandRequest<A>): Promise<CommandResult<A>> {
    return new Promise((answer) => {
      const waiting: PendingRequest = {
        request,
        answer: (settled) => {
          clearTimeout(waiting.timer);
          const { answerAfterCommit: afterwards } = request;
          const isRead = settled.ok && afterwards !== undefined;
          // The queue holds requests with different answer types. This closure knows the type of its own request.
          answer(isRead ? this.#guard(() => afterwards(this.#speculative.state)) : (settled as CommandResult<A>)); // oxlint-disable-line typescript/no-unsafe-type-assertion
        },
      };
      this.#enqueue(waiting);
    });
  }

  async submitCommand<K extends CommandKind>(
    command: CommandOf<K>,
    caller: Caller,
    options: Pick<CommandRequest<unknown>, 'key' | 'overtakesKept'> = {},
  ): Promise<CommandResult<AnswerOf<K>>> {
    return this.submit({
      actor: actorOf(caller),
      ...options,
      decide: ({ state, rules, here }) => decide(state, command, caller, rules, here),
    });
  }

  /** Starts work for which this host has room, after another host recorded an entry. */
  async lookForWork(): Promise<void> {
    await this.submit({
      actor: 'system:engine',
      decide: ({ at }) => ({ ok: true, events: this.#speculative.findWork(at), answer: null }),
    });
  }

  /** Reads the state when every earlier request is durable. */
  async read<A>(select: (view: DecideContext) => A): Promise<CommandResult<A>> {
    // If no commit is in progress, everything is durable.
    if (this.#draining === undefined)
      return this.#guard(() => select(this.#speculative.view(this.#options.clock.read().toISOString())));
    return this.submit({ actor: 'system:reader', decide: (view) => ({ ok: true, events: [], answer: select(view) }) });
  }

  /** Receives every entry of the ledger, including this loop's own. Entries that arrive during a commit wait. */
  receiveEntries(entries: readonly Entry[]): void {
    this.#foreign.push(...entries);
    if (this.#draining === undefined) this.#foldForeign();
  }

  get waitingForWork(): number {
    return this.#waitList.countForWork();
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
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      // Folds entries that have arrived since. A decision without them would be refused as outdated.
      this.#foldForeign();
      const requests = this.#queue.splice(0, MAX_BATCH_REQUESTS);
      const batch = this.#speculative.beginBatch(this.#options.clock.pin());
      try {
        this.#decide(requests, batch);
        if (!this.#holdBack(batch)) await this.#commit(batch);
      } catch (error) {
        this.#failBatch(requests, batch, error);
      }
      this.#foldForeign();
    }
    this.#draining = undefined;
  }

  #decide(requests: PendingRequest[], batch: Batch): void {
    for (const [i, waiting] of requests.entries()) {
      if (batch.steps.length > MAX_BATCH_ENTRIES) {
        this.#queue.unshift(...requests.splice(i));
        break;
      }
      this.#decideOne(waiting, batch);
    }
    if (batch.steps.length === 0) return;
    let isDry = false;
    for (const waiting of this.#waitList) {
      const isForWork = waiting.request.waitsFor === 'work';
      // A claim never creates work, so once there is none, the remaining claims need not be tried.
      isDry ||= isForWork && !this.#speculative.hasWork;
      if (!isForWork || !isDry) this.#decideOne(waiting, batch);
    }
  }

  #decideOne(waiting: PendingRequest, batch: Batch): void {
    const { key, actor } = waiting.request;
    const outcome = this.#callDecide(waiting, batch.at);
    if (outcome === LATER) {
      this.#waitList.add(waiting);
      return;
    }
    const unknown = outcome.ok && outcome.events.length > 0 ? this.#speculative.findUnknown() : undefined;
    if (!outcome.ok || unknown !== undefined) {
      this.#addDecided({ waiting, settled: unknown ?? outcome, from: 0, to: 0 }, batch);
      return;
    }
    if (judgesBySilence(outcome.events) && !goesBeforeKept(waiting.request) && this.#messages.areWaiting()) {
      this.#waitList.remove(waiting);
      void this.#aside.wait(waiting, drainMessages(this.#messages));
      return;
    }
    const from = batch.steps.length;
    const { answer, events } = outcome;
    try {
      this.#speculative.advance(events, key === undefined ? { actor } : { actor, settles: { key, answer } }, batch);
    } catch (error) {
      throw new FailedReaction(waiting, error);
    }
    this.#addDecided({ waiting, settled: { ok: true, answer }, from, to: batch.steps.length }, batch);
  }

  /** If something must happen before a request is recorded, only that request waits. The rest is decided again. */
  #holdBack(batch: Batch): boolean {
    const held = findHeld(batch, this.#options.holdBack);
    if (held.size === 0) return false;
    this.#options.clock.unpin();
    this.#speculative.rollBack(batch);
    this.#queue.unshift(...batch.decided.map(({ waiting }) => waiting).filter((waiting) => !held.has(waiting)));
    for (const [waiting, until] of held) void this.#aside.wait(waiting, until);
    return true;
  }

  #addDecided(decided: DecidedRequest, batch: Batch): void {
    this.#waitList.remove(decided.waiting);
    batch.decided.push(decided);
  }

  #callDecide({ request }: PendingRequest, at: string): Outcome<unknown> | typeof LATER {
    const { key, decide: decideRequest } = request;
    const { settled } = this.#speculative.state;
    if (key !== undefined && settled.has(key)) return { ok: true, events: [], answer: settled.get(key) };
    const asked = this.#guard(() => decideRequest(this.#speculative.view(at)));
    return asked.ok ? asked.answer : asked;
  }

  /** Handles an unrecorded batch. If one request caused the error, only that one fails; the rest is retried. */
  #failBatch(requests: readonly PendingRequest[], batch: Batch, error: unknown): void {
    const culprit = error instanceof FailedReaction ? error.waiting : undefined;
    const cause = error instanceof FailedReaction ? error.cause : error;
    if (!(cause instanceof AboveLevel)) this.#options.onInternalError(cause);
    this.#options.clock.unpin();
    this.#speculative.rollBack(batch);
    const asked = [...requests, ...batch.decided.map(({ waiting }) => waiting)];
    const all = new Set(asked.filter((waiting) => !this.#aside.has(waiting)));
    const failed = culprit === undefined ? all : new Set([culprit]);
    for (const waiting of failed) {
      this.#waitList.remove(waiting);
      waiting.answer({ ok: false, refusal: cause instanceof AboveLevel ? cause.refusal : INTERNAL_ERROR });
    }
    this.#queue.unshift(...[...all].filter((waiting) => !failed.has(waiting) && !this.#waitList.has(waiting)));
  }

  async #commit(batch: Batch): Promise<void> {
    const drafts = draftsOf(batch);
    const result =
      drafts.length === 0
        ? ({ ok: true, entries: [] } as const)
        : await this.#options.ledger.append(drafts, batch.seqBefore);
    this.#options.clock.unpin();
    if (result.ok && isRecordedAsDecided(result.entries, drafts)) {
      this.#announce(
        batch.steps.map(({ recorded }) => recorded),
        true,
      );
      answerAll(batch.decided);
      // If no session here waits for the work, one on another host may.
      if (drafts.length > 0 && this.#speculative.hasWork) this.#options.ledger.store.wakeOthers?.();
      return;
    }
    this.#speculative.rollBack(batch);
    if (result.ok) {
      // The entries are durable, but with redacted data.
      this.#announce(this.#speculative.fold(result.entries.map(({ entry }) => entry)), true);
      answerAll(batch.decided);
      this.#waitList.wake(0);
    } else if ('problem' in result) {
      this.#answerUnrecorded(batch, drafts, result.problem);
    } else {
      // The decision missed recorded entries. They are folded before the requests are decided again.
      this.#queue.unshift(...batch.decided.map(({ waiting }) => waiting));
    }
  }

  #answerUnrecorded({ decided, at }: Batch, drafts: readonly Draft[], problem: Problem): void {
    const others = refuseUnrecordable(decided, drafts, this.#options.ledger);
    this.#queue.unshift(...(others ?? []));
    if (others !== undefined) return;
    for (const { waiting, from, to } of decided)
      if (to > from || !this.#answerWithoutStore(waiting, at)) waiting.answer({ ok: false, problem });
  }

  /** Answers a read from a failed commit. Returns false if the request wants to record something. */
  #answerWithoutStore(waiting: PendingRequest, at: string): boolean {
    const outcome = this.#callDecide(waiting, at);
    if (outcome === LATER) this.#waitList.add(waiting);
    else if (outcome.ok && outcome.events.length > 0) return false;
    else waiting.answer(outcome.ok ? { ok: true, answer: outcome.answer } : outcome);
    return true;
  }

  #foldForeign(): void {
    const entries = this.#foreign.splice(0).filter(({ seq }) => seq > this.#speculative.state.seq);
    if (entries.length === 0) return;
    const recorded = this.#speculative.fold(entries);
    this.#announce(recorded, false);
    this.#waitList.wake(this.#options.onForeign === undefined ? 0 : this.#options.onForeign(recorded));
  }

  /** A follower that throws changes nothing, because the entries are already durable. */
  #announce(recorded: readonly RecordedEvent[], isOwn: boolean): void {
    if (recorded.length === 0) return;
    try {
      this.#options.onRecorded(recorded, isOwn);
    } catch (error) {
      this.#options.onInternalError(error);
    }
  }
}
