import { createRunbookReader, type ReadRunbook } from '../../runbook/read/read-runbook.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import type { RunbookProblems } from './rulebook.ts';

/** The working file: a proposal, until it is adopted. A new run needs valid current files. */
export class RunbookWatch {
  readonly #readNow: () => ReadRunbook;
  readonly #followers: ((runbook: Runbook) => void)[] = [];
  readonly #onChange: OnChange;
  #seen: ReadRunbook | undefined;
  #good: Runbook | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(projectDir: string, onChange: OnChange = () => {}) {
    this.#onChange = onChange;
    this.#readNow = createRunbookReader(projectDir);
  }

  get lastValid(): Runbook | undefined {
    return this.#good;
  }

  /** Calls the follower at once with the current version, then with each new one. */
  follow(follower: (runbook: Runbook) => void): void {
    this.#followers.push(follower);
    if (this.#good !== undefined) follower(this.#good);
  }

  read(): ReadRunbook {
    const read = this.#readNow();
    if (read === this.#seen) return read;
    const wasGood = this.#seen?.checked.ok ?? true;
    this.#seen = read;
    if (!read.checked.ok && wasGood) this.#onChange(read.checked.problems);
    if (read.checked.ok && !wasGood) this.#onChange(undefined);
    if (read.checked.ok) {
      this.#good = read.checked.value;
      for (const follower of this.#followers) follower(this.#good);
    }
    return read;
  }

  readIfDue(nowMs: number): void {
    if (nowMs - this.#lookedMs < READ_INTERVAL_MS) return;
    this.#lookedMs = nowMs;
    this.read();
  }
}

/** Called with the problems when the runbook becomes invalid, and with undefined when it is valid again. */
type OnChange = (problems: RunbookProblems | undefined) => void;

const READ_INTERVAL_MS = 1000;
