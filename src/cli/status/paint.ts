import type { Io } from '../command.ts';
import { fitTo, widthOf } from '../table.ts';
import { oneLine, printable } from '../text.ts';

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

/** Colours where somebody looks, unless they have asked for none (no-color.org). */
export function wantsColors({ env, isTerminal }: Pick<Io, 'env' | 'isTerminal'>): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** How long ago something was, in two characters or three: `5s`, `12m`, `3h`, `4d`. */
export function renderAge(at: string | null, nowMs: number): string {
  const atMs = at === null ? NaN : Date.parse(at);
  if (Number.isNaN(atMs)) return '';
  // Clocks differ; nothing has begun in the future.
  const seconds = Math.max(0, Math.floor((nowMs - atMs) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
