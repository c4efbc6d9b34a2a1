/** An entry as the ledger stores it, without hashes. */
export interface StoredEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  /** The number of the entry that caused this one; null if a command did. */
  readonly cause: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly tasks?: Readonly<Record<string, number>>;
}

/** The ledger that all hosts share: it accepts a commit only on the head that the decision saw. */
export class Chain {
  readonly lines: string[] = [];
  readonly entries: StoredEntry[] = [];
  #digest = [0x811c9dc5, 0x9e3779b9] as readonly [number, number];
  readonly #onEntries: (commit: readonly StoredEntry[], by: string) => void;

  constructor(onEntries: (commit: readonly StoredEntry[], by: string) => void) {
    this.#onEntries = onEntries;
  }

  get size(): number {
    return this.lines.length;
  }

  /** The same for two runs with the same bytes. */
  get digest(): string {
    return this.#digest.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** Returns false if the head has moved. */
  append(commit: readonly StoredEntry[], after: number, by: string): boolean {
    if (after !== this.size) return false;
    const stored = commit.map((entry): StoredEntry => {
      const line = JSON.stringify(entry);
      this.lines.push(line);
      this.#hash(line);
      return JSON.parse(line) as StoredEntry; // oxlint-disable-line typescript/no-unsafe-type-assertion
    });
    this.entries.push(...stored);
    this.#onEntries(stored, by);
    return true;
  }

  #hash(line: string): void {
    let [a, b] = this.#digest;
    for (let i = 0; i < line.length; i += 1) {
      const code = line.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ code, 0x85ebca6b) ^ (b >>> 13);
    }
    this.#digest = [a, b];
  }
}
