import type { ApiError } from '../../api/answer.ts';
import { createRunbookReader, type ReadRunbook } from '../../runbook/read/read-runbook.ts';
import type { Runbook, RunbookProblem } from '../../runbook/runbook.ts';

/**
 * The runbook files of one project. A new run uses them as they are now, and errors in them refuse it; everything else continues with the
 * last valid version.
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

  /** The last valid version; undefined before the first one. */
  get lastValid(): Runbook | undefined {
    return this.#good;
  }

  /** `exit_protocol` as it was last read. An error elsewhere in the runbook does not switch it off, nor does a file that cannot be read. */
  get exitProtocol(): boolean {
    return this.#exitProtocol;
  }

  /** The same as the files are now. */
  readExitProtocol(): boolean {
    this.read();
    return this.#exitProtocol;
  }

  /** Calls the follower with every valid version, and at once with the current one. */
  follow(follower: (runbook: Runbook) => void): void {
    this.#followers.push(follower);
    if (this.#good !== undefined) follower(this.#good);
  }

  /** Reads the files if they have changed. */
  read(): ReadRunbook {
    const read = this.#readNow();
    if (read === this.#seen) return read;
    const wasGood = this.#seen?.checked.ok ?? true;
    this.#seen = read;
    if (read.isReadable) this.#exitProtocol = read.subject.value.exit_protocol ?? false;
    if (!read.checked.ok && wasGood) this.#onChange(read.checked.problems);
    if (read.checked.ok && !wasGood) this.#onChange(undefined);
    if (read.checked.ok) {
      this.#good = read.checked.value;
      for (const follower of this.#followers) follower(this.#good);
    }
    return read;
  }

  /** Looks for changes, at most once a second. */
  readIfDue(nowMs: number): void {
    if (nowMs - this.#lookedMs < READ_INTERVAL_MS) return;
    this.#lookedMs = nowMs;
    this.read();
  }
}

const READ_INTERVAL_MS = 1000;

/** Called with the problems when the runbook becomes invalid, and with undefined when it is valid again. */
type OnChange = (problems: RunbookProblems | undefined) => void;
export type RunbookProblems = readonly [RunbookProblem, ...RunbookProblem[]];

/** All problems in one error, so that they can be corrected together; the hint is that of the first. */
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
