// oxlint-disable no-control-regex
import { visible } from '../kit/visible.ts';
import { type Hue, nearestHue, PALETTE } from './ansi-colors.ts';

/** Text in one style. Its classes are defined in `page.css`; a program can choose only among them. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

/** A line as a terminal would show it. */
export interface StyledLine {
  readonly text: string;
  /** Null if no part of the line has a style. */
  readonly spans: readonly Span[] | null;
}

export interface Style {
  readonly hue?: Hue | undefined;
  readonly back?: Hue | undefined;
  readonly bold?: boolean;
  readonly faint?: boolean;
  readonly italic?: boolean;
  readonly under?: boolean;
  readonly inverse?: boolean;
  readonly struck?: boolean;
}

export const PLAIN: Style = {};

/** Longer lines are cut, because they would block the page. */
const MOST_CHARS = 20_000;
const PLAIN_TEXT = /^[\x20-\x7e]*$/;

/**
 * Parses one line without its line break. `style` is the previous line's final style; returns this line's final style
 * too.
 */
export function parseAnsiLine(raw: string, style: Style = PLAIN): { readonly line: StyledLine; readonly style: Style } {
  const ended = raw.replace(/\r+$/, '');
  if (style === PLAIN && ended.length <= MOST_CHARS && PLAIN_TEXT.test(ended))
    return { line: { text: ended, spans: null }, style };
  const screen = new ScreenLine();
  let current = style;
  for (const [token, , sgr] of ended.slice(0, MOST_CHARS).matchAll(TOKEN)) {
    if (sgr !== undefined) current = applySgr(current, sgr);
    else screen.take(token, classesOf(current));
  }
  if (ended.length > MOST_CHARS) screen.take(`… (${ended.length - MOST_CHARS} more characters)`, 'faint');
  return { line: screen.render(), style: current };
}

/**
 * Matches colours (group 2), the erasure of a line, strings for the terminal, other sequences, moves within the line, a
 * tab, or text.
 */
const TOKEN =
  /((?:\x1b\[|\x9b)([\d;:]*)m)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?|[\r\b\t]|[^\x1b\x9b\r\b\t]+|\x9b/gu;

/** The cells of a terminal's line: text after a carriage return overwrites what was there. */
class ScreenLine {
  readonly #cells: string[] = [];
  readonly #classes: string[] = [];
  #column = 0;

  take(token: string, classes: string): void {
    if (token === '\r') this.#column = 0;
    else if (token === '\b') this.#column = Math.max(0, this.#column - 1);
    else if (token === '\t') this.#write(' '.repeat(TAB - (this.#column % TAB)), classes);
    else if (/^(?:\x1b\[|\x9b)/.test(token)) this.#erase(token);
    else if (!/^[\x1b\x9b]/.test(token)) this.#write(token, classes);
  }

  #write(text: string, classes: string): void {
    for (const cell of text) {
      this.#cells[this.#column] = cell;
      this.#classes[this.#column] = classes;
      this.#column += 1;
    }
  }

  /** Erases the line or the rest of it, as progress bars do before they write it again. */
  #erase(token: string): void {
    const kept = { '[K': this.#column, '[0K': this.#column, '[2K': 0 }[token.slice(1)];
    if (kept === undefined) return;
    this.#cells.length = Math.min(this.#cells.length, kept);
    this.#classes.length = this.#cells.length;
    while (this.#cells.length < this.#column) {
      this.#cells.push(' ');
      this.#classes.push('');
    }
  }

  render(): StyledLine {
    const spans: Span[] = [];
    for (let at = 0; at < this.#cells.length;) {
      const classes = this.#classes[at] ?? '';
      let end = at + 1;
      while (end < this.#cells.length && this.#classes[end] === classes) end += 1;
      spans.push({ text: visible(this.#cells.slice(at, end).join('')), classes });
      at = end;
    }
    const text = spans.map((span) => span.text).join('');
    return { text, spans: spans.every(({ classes }) => classes === '') ? null : spans };
  }
}

const TAB = 8;

function applySgr(style: Style, parameters: string): Style {
  let next = style;
  const codes = parameters.split(';');
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? '';
    if (code.includes(':')) next = applyColor(next, code.split(':').map(Number).filter(Number.isFinite));
    else if (code === '38' || code === '48') {
      const length = codes[at + 1] === '5' ? 3 : 5;
      next = applyColor(next, codes.slice(at, at + length).map(Number));
      at += length - 1;
    } else next = applyCode(next, Number(code));
  }
  return next;
}

/** Applies `38;5;n`, `38;2;r;g;b`, or with colons also `38:2:space:r:g:b`. */
function applyColor(style: Style, numbers: readonly number[]): Style {
  const [ground, form, index = 0] = numbers;
  const rgb = numbers.slice(-3);
  const place = ground === 38 ? 'hue' : ground === 48 ? 'back' : undefined;
  if (place === undefined || (form !== 5 && form !== 2)) return style;
  return { ...style, [place]: form === 5 ? hueOfIndex(index) : nearestHue(rgb[0] ?? 0, rgb[1] ?? 0, rgb[2] ?? 0) };
}

function hueOfIndex(index: number): Hue | undefined {
  if (index < 16) return PALETTE[index];
  if (index >= 232) {
    const gray = (index - 232) * 10 + 8;
    return nearestHue(gray, gray, gray);
  }
  const level = (step: number): number => (step === 0 ? 0 : step * 40 + 55);
  const [red, green, blue] = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6];
  return nearestHue(level(red), level(green), level(blue));
}

function applyCode(style: Style, code: number): Style {
  if (code === 0) return PLAIN;
  const set = SETS[code];
  if (set !== undefined) return { ...style, ...set };
  if (code >= 30 && code <= 37) return { ...style, hue: PALETTE[code - 30] };
  if (code >= 90 && code <= 97) return { ...style, hue: PALETTE[code - 82] };
  if (code >= 40 && code <= 47) return { ...style, back: PALETTE[code - 40] };
  if (code >= 100 && code <= 107) return { ...style, back: PALETTE[code - 92] };
  return style;
}

const SETS: Readonly<Record<number, Style>> = {
  1: { bold: true },
  2: { faint: true },
  3: { italic: true },
  4: { under: true },
  7: { inverse: true },
  9: { struck: true },
  21: { under: true },
  22: { bold: false, faint: false },
  23: { italic: false },
  24: { under: false },
  27: { inverse: false },
  29: { struck: false },
  39: { hue: undefined },
  49: { back: undefined },
};

function classesOf(style: Style): string {
  if (style === PLAIN) return '';
  const { hue, back } = style;
  const flags = (['bold', 'faint', 'italic', 'under', 'inverse', 'struck'] as const).filter(
    (name) => style[name] === true,
  );
  return [...(hue === undefined ? [] : [`ink-${hue}`]), ...(back === undefined ? [] : [`on-${back}`]), ...flags].join(
    ' ',
  );
}
