import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGitHead } from '../hooks/git-head.ts';

interface Counts {
  /** Since the newest commit: a commit is progress. */
  readonly inRow: number;
  /** Of the run, as it was known at the last block; nothing resets it. */
  readonly total: number;
}

/** Counts blocks on disk for an agent without a supervisor: each of its stops is a process of its own. */
export class BlockCount {
  readonly #path: string;
  readonly #head: string;

  constructor(folder: string, cwd: string) {
    this.#path = join(folder, 'blocks-alone');
    this.#head = readGitHead(cwd) ?? '';
  }

  read(): Counts {
    try {
      const [head, inRow, total] = readFileSync(this.#path, 'utf8').split(' ');
      return { inRow: head === this.#head ? Number(inRow) : 0, total: Number(total ?? 0) };
    } catch {
      return { inRow: 0, total: 0 };
    }
  }

  /** `total`: how many blocks of the run there are now. */
  add(total: number): void {
    const { inRow } = this.read();
    try {
      writeFileSync(this.#path, `${this.#head} ${inRow + 1} ${total}`, { mode: 0o600 });
    } catch {
      // Without a folder there is no count, and the agent is blocked once more.
    }
  }
}
