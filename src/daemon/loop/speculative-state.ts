import { randomUUID } from 'node:crypto';
import { reactUntilQuiet } from '../../engine/react-until-quiet.ts';
import { react } from '../../engine/react.ts';
import { type Draft, prepareDraft } from '../../ledger/format/draft.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { Event, RecordedEvent, SettledRequest } from '../../state/event.ts';
import type { Refusal } from '../../state/outcome.ts';
import { toLedgerDraft, toRecordedEvent } from '../../state/recorded-event.ts';
import { type Rules, rulesInForce } from '../../state/rules.ts';
import { evolve, type State } from '../../state/state.ts';
import { type ReadyTasks, trackReadyTasks } from '../../state/tasks/ready.ts';
import { TrackedMap } from '../../state/tracked-map.ts';
import type { CommandRequest, CommandResult, DecideContext } from './request.ts';

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

/** A request whose answer is still owed. */
export interface PendingRequest {
  readonly request: CommandRequest<unknown>;
  readonly answer: (settled: CommandResult<unknown>) => void;
  timer?: NodeJS.Timeout;
  hasTimedOut?: boolean;
}

export interface DecidedRequest {
  readonly waiting: PendingRequest;
  readonly settled: CommandResult<unknown>;
  /** What it wants recorded, and what follows from that; the first of them is the `from`-th of the trial. */
  readonly drafts: readonly Draft[];
  readonly from: number;
}

/** Who has something recorded, and why. */
export interface EntryOrigin {
  readonly actor: string;
  readonly settles?: SettledRequest;
  readonly cause?: RecordedEvent;
}

/** The rules went wrong over what one request had decided. */
export class FailedReaction extends Error {
  readonly waiting: PendingRequest;

  constructor(waiting: PendingRequest, cause: unknown) {
    super('a reaction failed', { cause });
    this.waiting = waiting;
  }
}

/** A batch that was decided on the state that runs ahead, and is not durable yet. */
export interface Batch {
  readonly seqBefore: number;
  readonly at: string;
  readonly drafts: Draft[];
  readonly recorded: RecordedEvent[];
  readonly decided: DecidedRequest[];
}

/** The ledger keeps the data it was given, and makes its own only where it redacts something. */
export function isRecordedAsDecided(
  entries: readonly { readonly entry: Entry }[],
  { recorded, drafts }: Batch,
): boolean {
  return entries.every(({ entry }, i) => entry.seq === recorded[i]?.seq && entry.data === drafts[i]?.data);
}

/**
 * Those who waited go first: they are about to begin to work, while the others only want to know that they have been heard. The rest
 * follows when the answers of the first are on their way.
 */
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

/** Why no ledger of this size could record what one request wants; undefined where one could. */
export function findUnrecordable(
  { drafts, from }: DecidedRequest,
  size: number,
  secrets: readonly string[],
): Refusal | undefined {
  for (const [i, draft] of drafts.entries()) {
    const prepared = prepareDraft(draft, { position: from + i, size, secrets });
    if (prepared.ok) continue;
    const [{ code, message }] = prepared.problems;
    if (code === 'ledger/entry-too-large') return { code: 'too-large', message, hint: SEND_LESS };
    return { code: 'bad-request', message, hint: 'Whole numbers, valid text, and not too deep: see docs/api.md' };
  }
  return undefined;
}

const SEND_LESS = 'Say less, or name a file instead of sending its content.';
