import type { StreamFormat } from '../../protocol/run-plan.ts';
import { redactTokens } from '../../protocol/redact-tokens.ts';
import { ReadableLog, type ReadableLine } from './readable-log.ts';
import { safeLine } from './safe-line.ts';

/** The readable lines that one line of the log produces, and the offset of that line in the part. */
export interface LineGroup {
  readonly start: number;
  readonly lines: readonly ReadableLine[];
}

/** Parses a log in parts. Each part has whole lines of the log; only the last part may end within a line. */
export class LogPartReader {
  readonly #log: ReadableLog | null;
  readonly #decoder = new TextDecoder();

  /** With null, lines stay unchanged except for tokens. */
  constructor(format: StreamFormat | 'text' | null) {
    this.#log = format === null ? null : new ReadableLog(format, { clean: safeLine });
  }

  push(part: Uint8Array): LineGroup[] {
    const groups: LineGroup[] = [];
    for (let start = 0; start < part.length;) {
      const end = part.indexOf(LINE_BREAK, start);
      const text = this.#decoder.decode(part.subarray(start, end < 0 ? part.length : end));
      groups.push({ start, lines: this.#log?.push(text) ?? [{ kind: 'raw', text: redactTokens(text) }] });
      start = end < 0 ? part.length : end + 1;
    }
    return groups;
  }

  /** Returns a text that the client had not completed. */
  end(): readonly ReadableLine[] {
    return this.#log?.end() ?? [];
  }
}

const LINE_BREAK = 10;

/** The last groups that together have at least `count` lines. */
export function lastGroups(groups: readonly LineGroup[], count: number): readonly LineGroup[] {
  let lines = 0;
  const first = groups.findLastIndex((group) => {
    lines += group.lines.length;
    return lines >= count;
  });
  return first < 0 ? groups : groups.slice(first);
}
