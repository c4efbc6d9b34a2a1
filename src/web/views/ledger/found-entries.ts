import type { Answer, ApiError } from '../../../api/answer.ts';
import type { ShownEntry } from '../../model/ledger/describe-entry.ts';
import type { EntriesPart } from './entry-pages.ts';

export type FindEntries = (range: { readonly from?: number; readonly to?: number }) => Promise<Answer<EntriesPart>>;

/** A narrower filter finds the rest. */
const MOST_FOUND = 5000;
/** How many calls search before the user has to continue. */
const MOST_EMPTY = 10;

/** The entries that match a filter, newest first, read as the user scrolls. */
export class FoundEntries {
  readonly #find: FindEntries;
  readonly #onChange: () => void;
  readonly #entries: ShownEntry[] = [];
  /** Entries found after the list was shown, newest first. */
  readonly #newer: ShownEntry[] = [];
  #next: number | null | undefined;
  /** All entries up to this one were searched, or will be by `more`. */
  #head: number;
  readonly #from: number;
  #isReading = false;
  #isLooking = false;
  error: ApiError | undefined;

  constructor(find: FindEntries, head: number, onChange: () => void) {
    this.#find = find;
    this.#head = head;
    this.#from = head;
    this.#onChange = onChange;
  }

  get entries(): readonly ShownEntry[] {
    return this.#entries;
  }

  get newCount(): number {
    return this.#newer.length;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  /** The entries down to this one were searched; 1 when all were. */
  get searchedTo(): number {
    return this.#next === undefined ? this.#from + 1 : (this.#next ?? 0) + 1;
  }

  get isComplete(): boolean {
    return this.#next === null;
  }

  get isFull(): boolean {
    return this.#entries.length >= MOST_FOUND;
  }

  /** Searches until at least one more entry is found, or the limit is reached. */
  async more(): Promise<void> {
    if (this.#isReading || this.isComplete || this.isFull) return;
    this.#isReading = true;
    const before = this.#entries.length;
    for (let calls = 0; calls < MOST_EMPTY && this.#entries.length === before; calls += 1) {
      const answer = await this.#find({ to: this.#next ?? this.#from });
      this.error = answer.ok ? undefined : answer.error;
      if (!answer.ok) break;
      this.#entries.push(...answer.result.entries);
      this.#next = answer.result.next;
      this.#onChange();
      if (this.isComplete) break;
    }
    this.#isReading = false;
    this.#onChange();
  }

  /** Searches new entries after the ledger has grown. */
  async look(head: number): Promise<void> {
    if (this.#isLooking || head <= this.#head) return;
    this.#isLooking = true;
    const found = await this.#findNewer(head);
    this.#isLooking = false;
    // After a failure the same range is searched again.
    if (found === undefined) return;
    this.#head = head;
    this.#newer.unshift(...found);
    this.#onChange();
  }

  async #findNewer(head: number): Promise<readonly ShownEntry[] | undefined> {
    const found: ShownEntry[] = [];
    for (let to: number | null = head; to !== null && to > this.#head;) {
      const answer = await this.#find({ from: this.#head + 1, to });
      if (!answer.ok) return undefined;
      found.push(...answer.result.entries);
      to = answer.result.next;
    }
    return found;
  }

  /** Moves new entries to the top of the list. */
  showNew(): void {
    this.#entries.unshift(...this.#newer.splice(0));
    this.#onChange();
  }
}
