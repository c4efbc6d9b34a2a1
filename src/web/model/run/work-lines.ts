import { WORK_GROUPS, type WorkGroup } from './kinds.ts';
import type { WorkView } from './work-rows.ts';

/** One line of the work list: the heading of a group, or the row with this index. */
export type WorkLine =
  | { readonly kind: 'heading'; readonly group: WorkGroup; readonly count: number }
  | { readonly kind: 'row'; readonly index: number };

/**
 * The lines of the work list and the positions of its rows, so that a long list requests only the rows on the screen.
 */
export class WorkLines {
  readonly #groups: readonly { readonly group: WorkGroup; readonly count: number; readonly line: number }[];
  readonly length: number;

  constructor({ counts, total }: Pick<WorkView, 'counts' | 'total'>) {
    let line = 0;
    let left = total;
    const groups: { readonly group: WorkGroup; readonly count: number; readonly line: number }[] = [];
    for (const group of WORK_GROUPS) {
      const count = Math.min(left, counts[group]);
      if (count === 0) continue;
      groups.push({ group, count, line });
      line += 1 + count;
      left -= count;
    }
    this.#groups = groups;
    this.length = line;
  }

  at(line: number): WorkLine | undefined {
    const before = this.#groups.findLastIndex((group) => group.line <= line);
    const found = this.#groups[before];
    if (found === undefined || line >= this.length) return undefined;
    if (line === found.line) return { kind: 'heading', group: found.group, count: found.count };
    return { kind: 'row', index: line - before - 1 };
  }

  lineOf(index: number): number {
    let rows = 0;
    for (const [before, { count }] of this.#groups.entries()) {
      rows += count;
      if (index < rows) return index + before + 1;
    }
    return -1;
  }
}
