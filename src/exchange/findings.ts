import { type Problem, problem, refused, type Refused, textPositionAt, tooLarge } from '../protocol/shape/problem.ts';
import { utf8Length } from '../protocol/text/text-format.ts';
import { EXCHANGE_LIMITS, type Notice, type TaskStatus } from './task.ts';

/** A task as it stands in the text of another tool: its ids are that tool's. */
export interface FoundTask {
  readonly id: string;
  /** The id that it has in Baton, where the text says so. */
  readonly taskId?: string;
  readonly title: string;
  readonly description: string;
  readonly status: TaskStatus;
  readonly reason: string | null;
  readonly priority: number;
  readonly after: readonly FoundDependency[];
  /** The task that this one is a part of. */
  readonly parent?: string;
  /** Where it stands: an offset in the text. */
  readonly at: number;
}

export interface FoundDependency {
  readonly id: string;
  readonly at: number;
  /** Where it leads to nothing, that is told and not a problem. */
  readonly isLoose?: boolean;
}

/** What a reader has to say about a text besides the tasks in it. */
export class ImportFindings {
  readonly text: string;
  readonly problems: Problem[] = [];
  readonly notices: Notice[] = [];
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  problem(code: string, message: string, at: number, hint: string): void {
    // Past this somebody has the wrong file, and more of the same helps nobody.
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

/** The text of a reader, if it is one that can be read at all. */
export function startReading(text: string): ImportFindings | Refused {
  const bytes = utf8Length(text);
  if (bytes > EXCHANGE_LIMITS.bytes) return refused(tooLarge(bytes, EXCHANGE_LIMITS.bytes));
  if (!text.isWellFormed()) {
    return refused(problem('not-utf8', 'input is not valid Unicode', 'Save the file as UTF-8.'));
  }
  // Editors on Windows put a mark at the beginning.
  return new ImportFindings(text.startsWith('\ufeff') ? text.slice(1) : text);
}
