import { oneLine } from '../one-line.ts';
import { printable } from '../text.ts';
import { fitTo, widthOf } from '../text-width.ts';

export type Style = 'plain' | 'bold' | 'dim' | 'good' | 'bad' | 'busy' | 'call';

/** A piece of a line. Its text is made safe where the line is painted: nothing gets past that. */
export type Piece = readonly [text: string, style?: Style];

/** A line of pieces in at most so many columns, with colours where they are wanted. */
export function paint(pieces: readonly Piece[], { columns, colors }: { columns: number; colors: boolean }): string {
  let left = columns;
  let line = '';
  for (const [text, style = 'plain'] of pieces) {
    if (left <= 0) break;
    const shown = fitTo(printable(oneLine(text)), left);
    left -= widthOf(shown);
    line += colors && CODES[style] !== '' && shown.trim() !== '' ? `\u001B[${CODES[style]}m${shown}\u001B[0m` : shown;
  }
  return line.trimEnd();
}

const CODES: Readonly<Record<Style, string>> = {
  plain: '',
  bold: '1',
  dim: '2',
  good: '32',
  bad: '31',
  busy: '36',
  call: '1;33',
};

/** The sign and the colour of every status; the word stands beside it wherever there is room. */
export function signOf(status: string): readonly [sign: string, style: Style] {
  return SIGNS[status] ?? ['·', 'dim'];
}

const SIGNS: Readonly<Record<string, readonly [string, Style]>> = {
  done: ['✓', 'good'],
  failed: ['✗', 'bad'],
  cancelled: ['-', 'bad'],
  running: ['●', 'busy'],
  starting: ['○', 'busy'],
  attached: ['◆', 'busy'],
  leaving: ['○', 'dim'],
  waiting: ['!', 'call'],
  escalated: ['!', 'call'],
};
