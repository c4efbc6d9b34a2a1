import type { Answer, ApiError } from '../../../api/answer.ts';
import type { Entry } from '../../../ledger/format/entry.ts';
import { copyState, emptyState, foldEntry, type State } from '../../../state/state.ts';
import {
  isEntryLine,
  type LedgerPart,
  parseExportedEntry,
  type ReadPart,
  Slices,
  type TakeTurn,
} from './ledger-parts.ts';

export interface PastSource {
  readonly readPart: ReadPart;
  readonly turn: TakeTurn;
}

/** The state after the entry `seq`, which was recorded at `at`. */
export interface PastState {
  readonly state: State;
  readonly seq: number;
  readonly at: string;
}

export interface PastOptions {
  readonly onProgress?: (done: number, of: number) => void;
  readonly signal?: AbortSignal;
}

const READ_ENTRIES = 1000;
const MOST_COPIES = 64;
/** Copies share unchanged values, so a copy costs about as much as its maps: 40 bytes for each item. */
const MOST_IN_COPIES = 1_000_000;
const FIRST_SPACING = 2000;
/** The distance of copies near the cursor, which make a step back fast. */
const NEAR_SPACING = 250;
const MOST_NEAR = 4;
/** How much text of entries is cached, so that moving within a range needs no request. */
const KEPT_CHARACTERS = 16_000_000;

/**
 * The state of a project at any entry, folded from the beginning. Copies of the state in between make later reads fast;
 * their number is bounded, and their distance grows with the ledger.
 */
export class PastStates {
  readonly #source: PastSource;
  readonly #copies: PastState[] = [];
  readonly #near: PastState[] = [];
  readonly #chunks = new Map<number, readonly string[]>();
  #spacing = FIRST_SPACING;
  #cursor: PastState = { state: emptyState(), seq: 0, at: '' };
  #ahead: { readonly after: number; readonly answer: Promise<Answer<LedgerPart>> } | undefined;
  #busy: Promise<unknown> = Promise.resolve();

  constructor(source: PastSource) {
    this.#source = source;
  }

  /**
   * Computes a value from the state after an entry. One computation at a time, because the next one changes the state
   * in place.
   */
  async look<T>(seq: number, compute: (past: PastState) => T, options: PastOptions = {}): Promise<Answer<T>> {
    const looked = this.#busy.then(async (): Promise<Answer<T>> => {
      const error = await this.#reach(seq, options);
      return error === undefined ? { ok: true, result: compute(this.#cursor) } : { ok: false, error };
    });
    this.#busy = looked.catch(() => undefined);
    return looked;
  }

  async #reach(target: number, { onProgress, signal }: PastOptions): Promise<ApiError | undefined> {
    if (!Number.isSafeInteger(target) || target < 1) return noSuchEntry(target);
    this.#moveTo(target);
    const from = this.#cursor.seq;
    const slices = new Slices(this.#source.turn);
    while (this.#cursor.seq < target) {
      if (isStopped(signal)) return STOPPED;
      const lines = await this.#linesAfter(this.#cursor.seq, target);
      if (!lines.ok) return lines.error;
      if (lines.result.length === 0) return noSuchEntry(target);
      for (const line of lines.result) {
        if (this.#cursor.seq >= target || isStopped(signal)) break;
        const entry = parseExportedEntry(line);
        if (entry === undefined) return unreadable(this.#cursor.seq + 1);
        const error = this.#fold(entry, target);
        if (error !== undefined) return error;
        if (!slices.isOver) continue;
        onProgress?.(this.#cursor.seq - from, target - from);
        await slices.pause();
      }
    }
    return undefined;
  }

  /** Moves the cursor to the nearest known state at or before the entry. */
  #moveTo(target: number): void {
    let best: PastState | undefined = this.#cursor.seq <= target ? this.#cursor : undefined;
    for (const copy of [...this.#copies, ...this.#near])
      if (copy.seq <= target && copy.seq > (best?.seq ?? 0)) best = copy;
    if (best === this.#cursor) return;
    this.#cursor = best === undefined ? { state: emptyState(), seq: 0, at: '' } : copyOf(best);
  }

  #fold(entry: Entry, target: number): ApiError | undefined {
    const { state, seq } = this.#cursor;
    if (entry.seq !== seq + 1) return unreadable(seq + 1);
    try {
      foldEntry(state, entry);
    } catch (error) {
      // Resets the cursor, because the state may be half changed.
      this.#cursor = { state: emptyState(), seq: 0, at: '' };
      return { ...unreadable(entry.seq), message: error instanceof Error ? error.message : String(error) };
    }
    this.#cursor = { state, seq: entry.seq, at: entry.at };
    if (entry.seq % NEAR_SPACING === 0) this.#keep(target);
    return undefined;
  }

  #keep(target: number): void {
    const { state, seq } = this.#cursor;
    // The fold only appends to these maps, and no view reads them.
    for (const map of [state.statements, state.memory, state.settled]) map.clear();
    if (seq % this.#spacing === 0) {
      if (!this.#copies.some((copy) => copy.seq === seq)) this.#copies.push(copyOf(this.#cursor));
      if (this.#copies.length > MOST_COPIES || this.#countCopied() > MOST_IN_COPIES) this.#thinOut();
    } else if (target - seq <= 2 * NEAR_SPACING && !this.#near.some((copy) => copy.seq === seq)) {
      this.#near.push(copyOf(this.#cursor));
      if (this.#near.length > MOST_NEAR) this.#near.shift();
    }
  }

  #countCopied(): number {
    let count = 0;
    for (const { state } of this.#copies)
      for (const part of Object.values<unknown>({ ...state })) if (part instanceof Map) count += part.size;
    return count;
  }

  #thinOut(): void {
    this.#spacing *= 2;
    const kept = this.#copies.filter(({ seq }) => seq % this.#spacing === 0);
    this.#copies.splice(0, this.#copies.length, ...kept);
  }

  /** The entries after `seq` in its chunk; empty if the ledger ends there. */
  async #linesAfter(seq: number, target: number): Promise<Answer<readonly string[]>> {
    const start = seq - (seq % READ_ENTRIES);
    const known = this.#chunks.get(start) ?? [];
    const isEnough = known.length > seq - start;
    const answer = isEnough ? undefined : await this.#read(start + known.length, READ_ENTRIES - known.length);
    if (answer?.ok === false) return answer;
    const chunk = [...known, ...(answer?.result.lines ?? []).filter(isEntryLine)].slice(0, READ_ENTRIES);
    this.#chunks.delete(start);
    this.#chunks.set(start, chunk);
    this.#forgetChunks();
    const next = start + READ_ENTRIES;
    // Requests the next chunk while this one is folded.
    if (next < target && !this.#chunks.has(next))
      this.#ahead = { after: next, answer: this.#source.readPart(next + 1, READ_ENTRIES) };
    return { ok: true, result: chunk.slice(seq - start) };
  }

  async #read(after: number, limit: number): Promise<Answer<LedgerPart>> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    return ahead?.after === after ? ahead.answer : this.#source.readPart(after + 1, limit);
  }

  #forgetChunks(): void {
    let characters = 0;
    for (const [start, lines] of [...this.#chunks].toReversed()) {
      for (const { length } of lines) characters += length;
      if (characters > KEPT_CHARACTERS && start !== [...this.#chunks.keys()].at(-1)) this.#chunks.delete(start);
    }
  }
}

/** A function, because the compiler assumes that the flag does not change during a pause. */
function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function copyOf({ state, seq, at }: PastState): PastState {
  return { state: copyState(state), seq, at };
}

const STOPPED: ApiError = { code: 'stopped', message: 'the request was stopped', hint: 'Open the entry again.' };

function noSuchEntry(seq: number): ApiError {
  return { code: 'no-such-entry', message: `there is no entry ${seq}`, hint: 'Choose a smaller number.' };
}

function unreadable(seq: number): ApiError {
  return {
    code: 'ledger/bad-entry',
    message: `entry ${seq} cannot be read`,
    hint: 'Run: baton ledger verify',
  };
}
