import { randomUUID } from 'node:crypto';
import { advance, type Origin, type Step } from '../../engine/kernel.ts';
import { type Draft, prepareDraft } from '../../ledger/format/draft.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { Event, RecordedEvent } from '../../state/event.ts';
import type { Refusal } from '../../state/outcome.ts';
import { toLedgerDraft, toRecordedEvent } from '../../state/recorded-event.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import { evolve, type State } from '../../state/state.ts';
import { type ReadyTasks, trackReadyTasks } from '../../state/tasks/ready.ts';
import { TrackedMap } from '../../state/tracked-map.ts';
import type { CommandRequest, CommandResult, DecideContext } from './request.ts';

/** The state during a commit: it has the entries before they are durable, and can go back if the commit fails. */
export class SpeculativeState {
  readonly state: State;
  readonly #rules: Rules;
  readonly #ready: ReadyTasks;
  readonly #maps: readonly TrackedMap<string, unknown>[];

  /** The maps of the state must be `TrackedMap`s. */
  constructor(state: State, rules: Rules) {
    this.state = state;
    this.#rules = rules;
    this.#ready = trackReadyTasks(state, rules);
    this.#maps = Object.values(state).filter((value) => value instanceof TrackedMap);
  }

  view(at: string): DecideContext {
    return { state: this.state, ready: this.#ready, rules: rulesInForce(this.state, this.#rules), at };
  }

  get hasWork(): boolean {
    return this.#ready.first(this.state, 1).length + this.#ready.closing(this.state, 1).length > 0;
  }

  beginBatch(at: string): Batch {
    for (const map of this.#maps) map.begin();
    return { seqBefore: this.state.seq, at, steps: [], decided: [] };
  }

  advance(events: readonly Event[], origin: Origin, { at, steps }: Batch): void {
    const context = { state: this.state, newId: randomUUID, at, ready: this.#ready, rules: this.#rules };
    advance(context, events, origin, steps);
  }

  rollBack({ seqBefore: before, steps }: Batch): void {
    for (const map of this.#maps) map.revert();
    this.state.seq = before;
    for (const { recorded } of steps) this.#ready.note(this.state, recorded);
  }

  /** Folds entries of the ledger in. Returns those with a known type. */
  fold(entries: readonly Entry[]): readonly RecordedEvent[] {
    const folded: RecordedEvent[] = [];
    for (const entry of entries) {
      const recorded = toRecordedEvent(entry);
      if (recorded !== undefined) {
        evolve(this.state, recorded);
        this.#ready.note(this.state, recorded);
        folded.push(recorded);
      }
      this.state.seq = entry.seq;
    }
    return folded;
  }
}

export interface PendingRequest {
  readonly request: CommandRequest<unknown>;
  readonly answer: (settled: CommandResult<unknown>) => void;
  timer?: NodeJS.Timeout;
  /** Its wait is over, or its caller has gone. */
  hasTimedOut?: boolean;
}

export interface DecidedRequest {
  readonly waiting: PendingRequest;
  readonly settled: CommandResult<unknown>;
  /** Its steps in the batch: from `from` up to but not including `to`. */
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

/** A batch of requests whose entries are in the state and not in the ledger yet. */
export interface Batch {
  readonly seqBefore: number;
  readonly at: string;
  readonly steps: Step[];
  readonly decided: DecidedRequest[];
}

/** Each cause is a position among the drafts, because their numbers are final only once they are recorded. */
export function draftsOf({ seqBefore: before, steps }: Batch): readonly Draft[] {
  return steps.map(({ event, recorded: { actor, settles }, cause }) =>
    toLedgerDraft(event, actor, settles, cause === undefined ? undefined : { draft: cause.seq - before - 1 }),
  );
}

/** False if the ledger gave other numbers, or redacted something. */
export function isRecordedAsDecided(
  entries: readonly { readonly entry: Entry }[],
  drafts: readonly Draft[],
  { steps }: Batch,
): boolean {
  return entries.every(({ entry }, i) => entry.seq === steps[i]?.recorded.seq && entry.data === drafts[i]?.data);
}

/** Answers requests that waited for work first, because their agents can start. The others get their confirmation after that. */
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

/** Returns why the entries of one request cannot be recorded in a ledger of this size. `drafts` are those of the whole commit. */
export function findUnrecordable(
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
    return { code: 'bad-request', message, hint: 'Whole numbers, valid text, and not too deep: see docs/api.md' };
  }
  return undefined;
}

export class WaitList {
  readonly #waiting = new Set<PendingRequest>();

  [Symbol.iterator](): IterableIterator<PendingRequest> {
    return this.#waiting.values();
  }

  has(waiting: PendingRequest): boolean {
    return this.#waiting.has(waiting);
  }

  remove(waiting: PendingRequest): boolean {
    return this.#waiting.delete(waiting);
  }

  removeAll(): readonly PendingRequest[] {
    const all = [...this.#waiting];
    this.#waiting.clear();
    return all;
  }

  add(waiting: PendingRequest): void {
    const { waitLimit } = waiting.request;
    // An aborted signal sends no further event.
    if (waitLimit === undefined || waiting.hasTimedOut || waitLimit.signal?.aborted === true) {
      this.remove(waiting);
      answerTimeout(waiting);
      return;
    }
    this.#waiting.add(waiting);
    if (waiting.timer !== undefined) return;
    const giveUp = (): void => this.#giveUp(waiting);
    waiting.timer = setTimeout(giveUp, waitLimit.ms);
    waitLimit.signal?.addEventListener('abort', giveUp, { once: true });
  }

  #giveUp(waiting: PendingRequest): void {
    waiting.hasTimedOut = true;
    if (this.remove(waiting)) answerTimeout(waiting);
  }
}

function answerTimeout({ request, answer }: PendingRequest): void {
  answer(request.waitLimit?.otherwise ?? { ok: false, refusal: NOTHING_YET });
}

const NOTHING_YET: Refusal = {
  code: 'nothing-yet',
  message: 'there is nothing to do yet',
  hint: 'Ask again with wait_ms.',
};

/** The clock of a ledger, stopped while a batch is decided and recorded, so that its state and its entries have the same time. */
export class CommitClock {
  readonly #now: () => Date;
  #pinned: Date | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  pin(): string {
    this.#pinned = this.#now();
    return this.#pinned.toISOString();
  }

  unpin(): void {
    this.#pinned = undefined;
  }

  read(): Date {
    return this.#pinned ?? this.#now();
  }
}
