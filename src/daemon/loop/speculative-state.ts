import { randomUUID } from 'node:crypto';
import type { EngineContext } from '../../engine/context.ts';
import { lookForWork } from '../../engine/dispatch.ts';
import { advance, type Origin, type Step } from '../../engine/kernel.ts';
import { type Draft, prepareDraft } from '../../ledger/format/draft.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import { type Problem, problem } from '../../protocol/shape/problem.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { joinActor } from '../../state/caller.ts';
import type { Event, RecordedEvent } from '../../state/event.ts';
import type { Refusal } from '../../state/outcome.ts';
import { toLedgerDraft } from '../../state/recorded-event.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import { findUnknownEntry, foldEntry, type State } from '../../state/state.ts';
import { type ReadyTasks, trackReadyTasks } from '../../state/tasks/ready.ts';
import { TrackedMap } from '../../state/tracked-map.ts';
import type { CommandRequest, CommandResult, DecideContext } from './request.ts';

/** The state during a commit. It has the entries before they are durable, and can revert them if the commit fails. */
export class SpeculativeState {
  readonly state: State;
  readonly #rules: Rules;
  readonly #here: string | undefined;
  readonly #ready: ReadyTasks;
  readonly #maps: readonly TrackedMap<string, unknown>[];

  /** Requires a state whose maps are `TrackedMap`s. */
  constructor(state: State, rules: Rules, here: string | undefined) {
    this.state = state;
    this.#here = here;
    this.#rules = rules;
    this.#ready = trackReadyTasks(state, rules);
    this.#maps = Object.values(state).filter((value) => value instanceof TrackedMap);
  }

  view(at: string): DecideContext {
    const rules = rulesInForce(this.state, this.#rules);
    return { state: this.state, ready: this.#ready, rules, at, here: this.#here };
  }

  /**
   * Returns why nothing may be decided. This is a problem, not a refusal, so that messages of agents stay in the outbox
   * until a newer version records them.
   */
  findUnknown(): { readonly ok: false; readonly problem: Problem } | undefined {
    const found = explainUnknown(this.state);
    return found === undefined ? undefined : { ok: false, problem: found };
  }

  get hasWork(): boolean {
    return this.#ready.first(this.state, 1).length + this.#ready.closing(this.state, 1).length > 0;
  }

  beginBatch(at: string): Batch {
    for (const map of this.#maps) map.begin();
    return { seqBefore: this.state.seq, at, steps: [], decided: [] };
  }

  advance(events: readonly Event[], origin: Origin, { at, steps }: Batch): void {
    advance(this.#worldAt(at), events, origin, steps);
  }

  /** Finds work that may start on this host now. */
  findWork(at: string): readonly Event[] {
    return lookForWork(this.#worldAt(at));
  }

  #worldAt(at: string): EngineContext {
    return { state: this.state, newId: randomUUID, at, ready: this.#ready, rules: this.#rules, here: this.#here };
  }

  rollBack({ seqBefore: before, steps }: Batch): void {
    for (const map of this.#maps) map.revert();
    this.state.seq = before;
    for (const { recorded } of steps) this.#ready.note(this.state, recorded);
  }

  /** Folds entries of the ledger. Returns those with a known type. */
  fold(entries: readonly Entry[]): readonly RecordedEvent[] {
    const folded: RecordedEvent[] = [];
    for (const entry of entries) {
      const recorded = foldEntry(this.state, entry);
      if (recorded === undefined) continue;
      this.#ready.note(this.state, recorded);
      folded.push(recorded);
    }
    return folded;
  }
}

export interface PendingRequest {
  readonly request: CommandRequest<unknown>;
  readonly answer: (settled: CommandResult<unknown>) => void;
  timer?: NodeJS.Timeout;
  /** The wait is over, or the caller has disconnected. */
  hasTimedOut?: boolean;
  /** The request was already held back once; see `hold-back.ts`. */
  hasWaited?: boolean;
}

export interface DecidedRequest {
  readonly waiting: PendingRequest;
  readonly settled: CommandResult<unknown>;
  /** The request's steps in the batch, from `from` up to but not including `to`. */
  readonly from: number;
  readonly to: number;
}

export class FailedReaction extends Error {
  readonly waiting: PendingRequest;

  constructor(waiting: PendingRequest, cause: unknown) {
    super('a reaction failed', { cause });
    this.waiting = waiting;
  }
}

/** A batch of requests whose entries are in the state but not yet in the ledger. */
export interface Batch {
  readonly seqBefore: number;
  readonly at: string;
  readonly steps: Step[];
  readonly decided: DecidedRequest[];
}

/** Each cause is a position among the drafts, because numbers are final only when recorded. */
export function draftsOf({ seqBefore: before, steps }: Batch): readonly Draft[] {
  return steps.map(({ event, recorded: { actor, via, settles, tasks }, cause }) => {
    const because = cause === undefined ? {} : { cause: { draft: cause.seq - before - 1 } };
    const numbers = tasks === undefined ? {} : { tasks };
    return toLedgerDraft(event, joinActor(actor, via), settles, { ...because, ...numbers });
  });
}

/** False if the ledger redacted some data. */
export function isRecordedAsDecided(entries: readonly { readonly entry: Entry }[], drafts: readonly Draft[]): boolean {
  return entries.every(({ entry }, i) => entry.data === drafts[i]?.data);
}

/** First answers requests that waited for work, so that their agents can start, then the others. */
export function answerAll(decided: readonly DecidedRequest[]): void {
  let waited = 0;
  for (const { waiting, settled } of decided) {
    if (waiting.timer === undefined) continue;
    waited += 1;
    waiting.answer(settled);
  }
  if (waited === decided.length) return;
  const answerRest = (): void => {
    for (const { waiting, settled } of decided) if (waiting.timer === undefined) waiting.answer(settled);
  };
  if (waited === 0) answerRest();
  else process.nextTick(answerRest);
}

/**
 * Refuses the requests whose entries no ledger could record. Returns the others, to be retried; undefined if there is
 * no such request.
 */
export function refuseUnrecordable(
  decided: readonly DecidedRequest[],
  drafts: readonly Draft[],
  { head, secrets }: Pick<Ledger, 'head' | 'secrets'>,
): readonly PendingRequest[] | undefined {
  const unfit = decided.map((each) => findUnrecordable(drafts, each, head.size, secrets));
  if (unfit.every((found) => found === undefined)) return undefined;
  return decided.flatMap(({ waiting }, i) => {
    const refusal = unfit[i];
    if (refusal === undefined) return [waiting];
    waiting.answer({ ok: false, refusal });
    return [];
  });
}

/**
 * Returns why a request's entries cannot be recorded in a ledger of this size. `drafts` are those of the whole commit.
 */
function findUnrecordable(
  drafts: readonly Draft[],
  { from, to }: DecidedRequest,
  size: number,
  secrets: readonly string[],
): Refusal | undefined {
  for (const [i, draft] of drafts.slice(from, to).entries()) {
    const prepared = prepareDraft(draft, { position: from + i, size, secrets });
    if (prepared.ok) continue;
    const [{ code, message }] = prepared.problems;
    if (code === 'ledger/entry-too-large')
      return { code: 'too-large', message, hint: 'Send less text, or name a file instead of sending its content.' };
    return { code: 'bad-request', message, hint: 'Whole numbers, valid text, and not too deep. See: baton docs api' };
  }
  return undefined;
}

/**
 * The clock of a ledger. Stopped while a batch is decided and recorded, so that state and entries have the same time.
 */
export class CommitClock {
  readonly #now: () => Date;
  #pinned: Date | undefined;
  #newestMs = Number.NEGATIVE_INFINITY;

  constructor(now: () => Date) {
    this.#now = now;
  }

  pin(): string {
    this.#pinned = this.#later(this.#now());
    return this.#pinned.toISOString();
  }

  /** In a fleet: after a recorded entry with this time, no later entry gets an earlier one. */
  observe(at: string | undefined): void {
    const ms = at === undefined ? Number.NaN : Date.parse(at);
    if (ms > this.#newestMs) this.#newestMs = ms;
  }

  #later(now: Date): Date {
    return now.getTime() < this.#newestMs ? new Date(this.#newestMs) : now;
  }

  unpin(): void {
    this.#pinned = undefined;
  }

  read(): Date {
    return this.#pinned ?? this.#later(this.#now());
  }
}

/** Why every command is refused: the state lacks an entry that this version cannot fold. Undefined if it lacks none. */
export function explainUnknown(state: State): Problem | undefined {
  const unknown = findUnknownEntry(state);
  if (unknown === undefined) return undefined;
  const { type, seq } = unknown;
  const message = `entry ${seq} has the type ${type}, which this version of Baton does not know, so Baton decides nothing`;
  const hint = 'Upgrade Baton on this host. Until then messages of agents are kept.';
  return problem('store-unavailable', message, hint);
}
