import type { Io } from '../command.ts';
import { columnsOf } from '../status/paint.ts';
import { widthOf, wrapTo } from '../table.ts';

/** Breaks the lines of a help text for a terminal. The rest of a row stands below its second column. */
export function hangHelp(text: string, io: Pick<Io, 'isTerminal'>): string {
  const columns = columnsOf(io);
  const lines = text.split('\n').flatMap((line) => {
    const [start = ''] = /^(?: *\S(?:.*?\S)? {2,}|Usage: )/.exec(line) ?? [];
    // An example stays whole, so that it can be copied.
    const isExample = start === '' && line.startsWith(' ');
    if (isExample || widthOf(line) <= columns || start.length > columns / 2) return [line];
    const [first = '', ...rest] = wrapTo(line.slice(start.length), Math.max(LEAST_COLUMNS, columns - start.length));
    return [`${start}${first}`, ...rest.map((part) => `${' '.repeat(start.length)}${part}`)];
  });
  return lines.join('\n');
}

const LEAST_COLUMNS = 20;
