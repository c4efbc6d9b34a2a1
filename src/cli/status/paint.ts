import type { Io } from '../command.ts';
import { fitTo, widthOf } from '../table.ts';
import { oneLine, printable } from '../text.ts';

export type Style = 'plain' | 'bold' | 'dim' | 'good' | 'bad' | 'busy' | 'call';
/** A piece of a line. `paint` escapes its text for the terminal. */
export type Piece = readonly [text: string, style?: Style];

export function paint(pieces: readonly Piece[], { columns, colors }: Look): string {
  let left = columns;
  let line = '';
  for (const [text, style = 'plain'] of pieces) {
    if (left <= 0) break;
    const shown = fitTo(printable(oneLine(text)), left);
    left -= widthOf(shown);
    line += colors ? colored(shown, style) : shown;
  }
  return line.trimEnd();
}

/** The text must already be safe for the terminal. */
export function colored(text: string, style: Style): string {
  return CODES[style] === '' || text.trim() === '' ? text : `\u001B[${CODES[style]}m${text}\u001B[0m`;
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

/** True only at a terminal; see also no-color.org. */
export function wantsColors({ env, isTerminal }: Pick<Io, 'env' | 'isTerminal'>): boolean {
  return isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** How lines are painted. */
export interface Look {
  /** Infinity if the output is not a terminal. */
  readonly columns: number;
  readonly colors: boolean;
}

export function lookOf(io: Pick<Io, 'env' | 'isTerminal'>): Look {
  return { columns: columnsOf(io), colors: wantsColors(io) };
}

/** The width of the terminal; Infinity if the output is not a terminal. */
export function columnsOf({ isTerminal }: Pick<Io, 'isTerminal'>): number {
  return isTerminal ? process.stdout.columns || 80 : Infinity;
}

/** An age such as `5s`, `12m`, `3h` or `4d`. */
export function renderAge(at: string | null, nowMs: number): string {
  const atMs = at === null ? NaN : Date.parse(at);
  if (Number.isNaN(atMs)) return '';
  // The clocks of two machines may differ.
  const seconds = Math.max(0, Math.floor((nowMs - atMs) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
