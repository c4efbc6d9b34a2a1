import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiError } from '../api/answer.ts';
import { readRunbook, type ReadRunbook } from '../runbook/read-runbook.ts';
import type { Runbook, RunbookProblem } from '../runbook/runbook.ts';

/**
 * The runbook of one project, read again whenever one of its files has changed. Whoever is about to start something asks for it as it
 * is now; a mistake in it keeps new runs from starting, and everything else goes on with what was last good.
 */
export class RunbookWatch {
  readonly #path: string;
  readonly #followers: ((runbook: Runbook) => void)[] = [];
  #seen = '';
  #reading: Promise<ReadRunbook> | undefined;
  #good: Runbook | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(path: string) {
    this.#path = path;
  }

  /** Is told of every runbook that can be used; at once of the one that is there. */
  follow(follower: (runbook: Runbook) => void): void {
    this.#followers.push(follower);
    if (this.#good !== undefined) follower(this.#good);
  }

  /** The last one without mistakes; undefined before there was any. */
  get good(): Runbook | undefined {
    return this.#good;
  }

  /** As its files are now. */
  async read(): Promise<ReadRunbook> {
    const now = signatureOf(this.#path);
    if (this.#reading === undefined || now !== this.#seen) {
      this.#seen = now;
      this.#reading = this.#readAnew();
    }
    return this.#reading;
  }

  /** Looks whether it has changed, at most once a second. */
  async glance(nowMs: number): Promise<void> {
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    await this.read();
  }

  async #readAnew(): Promise<ReadRunbook> {
    const read = await readRunbook(this.#path);
    if (read.checked.ok) {
      this.#good = read.checked.value;
      for (const follower of this.#followers) follower(read.checked.value);
    }
    return read;
  }
}

const LOOK_MS = 1000;

/** Every problem, so that all of them can be corrected at once; the first one's hint. */
export function describeRunbook(problems: readonly [RunbookProblem, ...RunbookProblem[]]): ApiError {
  const lines = problems.map(({ file, line, column, message }) => `${place(file, line, column)}${message}`);
  return { code: 'bad-runbook', message: lines.join('\n'), hint: `${problems[0].hint} Check it with: baton runbook check` };
}

function place(file: string, line: number | null, column: number | null): string {
  return line === null ? `${file}: ` : `${file}:${line}:${column ?? 1}: `;
}

/** What tells one version of the files from another, without reading them. */
function signatureOf(path: string): string {
  const folder = join(path, '.baton', 'runbooks');
  const files = [...ROOT_FILES.map((name) => join(path, name)), ...listFiles(folder)];
  return files.map((file) => `${file} ${stampOf(file)}`).join('\n');
}

const ROOT_FILES = ['baton.toml', 'baton.yaml', 'baton.yml', 'baton.json'];

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .toSorted()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function stampOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.mtimeMs} ${found.size} ${found.ino}`;
}
