import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readHead } from '../git-head.ts';

/** Blocks in a row, on disk: each stop is a process of its own here. A new commit is progress, and begins anew. */
export class BlockCount {
  readonly #path: string;
  readonly #head: string;

  constructor(folder: string, cwd: string) {
    this.#path = join(folder, 'blocks-alone');
    this.#head = readHead(cwd) ?? '';
  }

  read(): number {
    try {
      const [head, blocks] = readFileSync(this.#path, 'utf8').split(' ');
      return head === this.#head ? Number(blocks) : 0;
    } catch {
      return 0;
    }
  }

  add(): void {
    try {
      writeFileSync(this.#path, `${this.#head} ${this.read() + 1}`, { mode: 0o600 });
    } catch {
      // Without a folder nobody counts, and the agent is told once more.
    }
  }
}
