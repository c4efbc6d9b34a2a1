import type { ApiError } from '../../api/answer.ts';
import { createRunbookReader, type ReadRunbook } from '../../runbook/read/read-runbook.ts';
import type { Runbook, RunbookProblem } from '../../runbook/runbook.ts';

/**
 * The runbook of one project. Whoever is about to start something asks for it as it is now; a mistake in it keeps new runs from
 * starting, and everything else goes on with what was last good.
 */
export class RunbookWatch {
  readonly #readNow: () => ReadRunbook;
  readonly #followers: ((runbook: Runbook) => void)[] = [];
  readonly #onChange: OnChange;
  #seen: ReadRunbook | undefined;
  #good: Runbook | undefined;
  #exitProtocol = false;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(projectDir: string, onChange: OnChange = () => {}) {
    this.#onChange = onChange;
    this.#readNow = createRunbookReader(projectDir);
  }

  /** The last one without mistakes; undefined before there was any. */
  get lastValid(): Runbook | undefined {
    return this.#good;
  }

  /** What it says about exit signals now. A mistake elsewhere in it does not switch them off, nor does a file that cannot be read. */
  get exitProtocol(): boolean {
    const { subject, isReadable } = this.read();
    if (isReadable) this.#exitProtocol = subject.value.exit_protocol ?? false;
    return this.#exitProtocol;
  }

  /** Is told of every runbook that can be used; at once of the one that is there. */
  follow(follower: (runbook: Runbook) => void): void {
    this.#followers.push(follower);
    if (this.#good !== undefined) follower(this.#good);
  }

  /** As its files are now. */
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

  /** Looks whether it has changed, at most once a second. */
  readIfDue(nowMs: number): void {
    if (nowMs - this.#lookedMs < READ_INTERVAL_MS) return;
    this.#lookedMs = nowMs;
    this.read();
  }
}

const READ_INTERVAL_MS = 1000;

/** Is told when mistakes get into the runbook, and (undefined) when it is without any again. */
export type OnChange = (problems: RunbookProblems | undefined) => void;
export type RunbookProblems = readonly [RunbookProblem, ...RunbookProblem[]];

/** Every problem, so that all of them can be corrected at once: as data, and in words with the first one's hint. */
export function runbookError(problems: RunbookProblems): ApiError {
  return {
    code: 'bad-runbook',
    message: problems.map(renderRunbookProblem).join('\n'),
    hint: `${problems[0].hint} Check it with: baton runbook check`,
    problems,
  };
}

export function renderRunbookProblem({ file, line, column, message }: RunbookProblem): string {
  return `${renderPlace(file, line, column)}${message}`;
}

function renderPlace(file: string, line: number | null, column: number | null): string {
  return line === null ? `${file}: ` : `${file}:${line}:${column ?? 1}: `;
}
