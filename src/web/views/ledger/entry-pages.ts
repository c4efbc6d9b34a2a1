import type { Answer, ApiError } from '../../../api/answer.ts';
import type { ShownEntry } from '../../model/ledger/describe-entry.ts';

export interface EntriesPart {
  readonly entries: readonly ShownEntry[];
  readonly next: number | null;
}

export type ReadRange = (range: { readonly from: number; readonly to: number }) => Promise<Answer<EntriesPart>>;

/** The default maximum of one call. */
export const PAGE_ENTRIES = 100;
/** About a hundred screens. */
const MOST_PAGES = 40;

/** The entries around those on the screen, by number. Others are read when the user scrolls to them. */
export class EntryPages {
  readonly #read: ReadRange;
  readonly #onChange: () => void;
  readonly #pages = new Map<number, Map<number, ShownEntry>>();
  #wanted: { readonly from: number; readonly to: number } | undefined;
  #isReading = false;
  error: ApiError | undefined;

  constructor(read: ReadRange, onChange: () => void) {
    this.#read = read;
    this.#onChange = onChange;
  }

  find(seq: number): ShownEntry | undefined {
    return this.#pages.get(pageOf(seq))?.get(seq);
  }

  /** Requests these numbers, which are on the screen. Only the newest request counts. */
  want(from: number, to: number): void {
    this.#wanted = { from: Math.max(1, from), to };
    if (!this.#isReading) void this.#fill();
  }

  /** Repeats the request after a failure. */
  retry(): void {
    if (this.error !== undefined && !this.#isReading) void this.#fill();
  }

  async #fill(): Promise<void> {
    this.#isReading = true;
    for (let range = this.#missing(); range !== undefined; range = this.#missing()) {
      const answer = await this.#read(range);
      this.error = answer.ok ? undefined : answer.error;
      if (!answer.ok) break;
      // Stops without progress, because the same range would be read again and again.
      if (answer.result.entries.length === 0) break;
      for (const entry of answer.result.entries) this.#keep(entry);
      this.#forget();
      this.#onChange();
    }
    this.#isReading = false;
    this.#onChange();
  }

  /** The first gap in the requested range, with the rest of its page. */
  #missing(): { readonly from: number; readonly to: number } | undefined {
    const { from = 1, to = 0 } = this.#wanted ?? {};
    for (let seq = to; seq >= from; seq -= 1) {
      if (this.find(seq) !== undefined) continue;
      const first = pageOf(seq) * PAGE_ENTRIES + 1;
      let low = seq;
      while (low > first && this.find(low - 1) === undefined) low -= 1;
      return { from: low, to: seq };
    }
    return undefined;
  }

  #keep(entry: ShownEntry): void {
    const page = pageOf(entry.seq);
    const entries = this.#pages.get(page) ?? new Map<number, ShownEntry>();
    entries.set(entry.seq, entry);
    // Moves the page to the end, so that the most recently used page is dropped last.
    this.#pages.delete(page);
    this.#pages.set(page, entries);
  }

  #forget(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) return;
      this.#pages.delete(page);
    }
  }
}

function pageOf(seq: number): number {
  return Math.floor((seq - 1) / PAGE_ENTRIES);
}
