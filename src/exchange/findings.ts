import { type Problem, problem, refused, type Refused, textPositionAt, tooLarge } from '../protocol/shape/problem.ts';
import { utf8Length } from '../protocol/text/text-format.ts';
import { EXCHANGE_LIMITS, type GithubIssueRef, type Notice, type TaskStatus } from './task.ts';

export interface FoundTask {
  readonly id: string;
  /** The task's id in Baton, if the text contains it. */
  readonly taskId?: string;
  readonly title: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly reason: string | null;
  readonly priority: number;
  readonly after: readonly FoundDependency[];
  readonly parent?: string;
  readonly githubIssue?: GithubIssueRef;
  readonly at: number;
}

export interface FoundDependency {
  readonly id: string;
  readonly at: number;
  /** An unknown target gives a notice instead of a problem. */
  readonly isLoose?: boolean;
}

export class ImportFindings {
  readonly text: string;
  readonly problems: Problem[] = [];
  readonly notices: Notice[] = [];
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  problem(code: string, message: string, at: number, hint: string): void {
    // This many problems mean that the file is wrong; more would not help.
    if (this.problems.length >= EXCHANGE_LIMITS.problems) return;
    const line = this.lineOf(at);
    const start = this.#starts()[line - 1] ?? 0;
    const { column } = textPositionAt(this.text.slice(start, at), at - start);
    this.problems.push({ code, message, path: '', line, column, hint });
  }

  notice(message: string, at: number | null): void {
    this.notices.push({ message, line: at === null ? null : this.lineOf(at) });
  }

  lineOf(at: number): number {
    const starts = this.#starts();
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  #starts(): readonly number[] {
    this.#lineStarts ??= [0, ...this.text.matchAll(/\r\n|\r|\n/g).map((end) => end.index + end[0].length)];
    return this.#lineStarts;
  }
}

export function startReading(text: string): ImportFindings | Refused {
  const bytes = utf8Length(text);
  if (bytes > EXCHANGE_LIMITS.bytes) return refused(tooLarge(bytes, EXCHANGE_LIMITS.bytes));
  if (!text.isWellFormed()) {
    return refused(problem('not-utf8', 'input is not valid Unicode', 'Save the file as UTF-8.'));
  }
  return new ImportFindings(text.startsWith('\ufeff') ? text.slice(1) : text);
}
