import { widthOf } from '../../src/cli/table.ts';

/** The style of a character: SGR parameters such as `1;33`; empty if plain. */
export type Style = '' | '1' | '2' | '31' | '32' | '33' | '36' | '1;33';

export interface Cell {
  readonly char: string;
  readonly style: Style;
}

/** The screen at one moment. Lines that scrolled off the top are kept, because the picture scrolls over them. */
export interface View {
  readonly lines: readonly (readonly Cell[])[];
  /** The index of the first line on the screen. */
  readonly top: number;
  /** Undefined while the cursor is hidden. */
  readonly cursor: { readonly line: number; readonly column: number } | undefined;
}

/**
 * A terminal that supports only the control sequences that Baton prints. Any other is an error, because the recording
 * would differ from a real terminal.
 */
export class Screen {
  readonly #columns: number;
  readonly #rows: number;
  readonly #lines: Cell[][] = [[]];
  #top = 0;
  #line = 0;
  #column = 0;
  #style: Style = '';
  #hasCursor = true;
  #wraps = true;
  #isUpdating = false;
  #rest = '';

  constructor({ columns, rows }: { readonly columns: number; readonly rows: number }) {
    this.#columns = columns;
    this.#rows = rows;
  }

  /** Whether a synchronized update is in progress, of which a terminal shows nothing yet. */
  get isUpdating(): boolean {
    return this.#isUpdating;
  }

  get view(): View {
    const cursor = this.#hasCursor ? { line: this.#line, column: this.#column } : undefined;
    return { lines: this.#lines.map((line) => [...line]), top: this.#top, cursor };
  }

  write(text: string): void {
    const whole = this.#rest + text;
    const cut = UNFINISHED.exec(whole)?.index ?? whole.length;
    this.#rest = whole.slice(cut);
    for (const [token, sequence, char] of whole.slice(0, cut).matchAll(TOKENS)) {
      if (sequence !== undefined) this.#obey(sequence);
      else if (char !== undefined) this.#put(char);
      else if (token === '\r') this.#column = 0;
      else if (token === '\n') this.#feed();
      else throw unknown(token);
    }
  }

  #obey(sequence: string): void {
    const [, parameters = '', final = ''] = /^(.*)(.)$/s.exec(sequence) ?? [];
    const mode = MODES[sequence];
    if (mode !== undefined) this.#setMode(...mode);
    else if (final === 'm' && isStyle(parameters)) this.#style = parameters;
    else if (sequence === '0m') this.#style = '';
    else if (sequence === 'K' || sequence === '0K') this.#lines[this.#line] = this.#current.slice(0, this.#column);
    else if (sequence === 'J' || sequence === '0J') {
      this.#lines[this.#line] = this.#current.slice(0, this.#column);
      this.#lines.length = this.#line + 1;
    } else if (final === 'A' && /^\d+$/.test(parameters))
      this.#line = Math.max(this.#top, this.#line - Number(parameters));
    else if (final === 'G' && /^\d+$/.test(parameters)) this.#column = Math.min(Number(parameters), this.#columns) - 1;
    else throw unknown(`\u001B[${sequence}`);
  }

  #setMode(mode: 'cursor' | 'wrap' | 'update', isOn: boolean): void {
    if (mode === 'cursor') this.#hasCursor = isOn;
    else if (mode === 'wrap') this.#wraps = isOn;
    else this.#isUpdating = isOn;
  }

  #put(char: string): void {
    if (widthOf(char) !== 1) throw unknown(char);
    if (this.#column === this.#columns) {
      if (this.#wraps) {
        this.#column = 0;
        this.#feed();
      } else this.#column -= 1;
    }
    const line = this.#current;
    while (line.length < this.#column) line.push({ char: ' ', style: '' });
    line[this.#column] = { char, style: this.#style };
    this.#column += 1;
  }

  #feed(): void {
    this.#line += 1;
    if (this.#line === this.#lines.length) this.#lines.push([]);
    this.#top = Math.max(this.#top, this.#line - this.#rows + 1);
  }

  get #current(): Cell[] {
    return (this.#lines[this.#line] ??= []);
  }
}

const STYLES: ReadonlySet<string> = new Set<Style>(['', '1', '2', '31', '32', '33', '36', '1;33']);

function isStyle(parameters: string): parameters is Style {
  return STYLES.has(parameters);
}

const MODES: Readonly<Record<string, readonly ['cursor' | 'wrap' | 'update', boolean]>> = {
  '?25h': ['cursor', true],
  '?25l': ['cursor', false],
  '?7h': ['wrap', true],
  '?7l': ['wrap', false],
  '?2026h': ['update', true],
  '?2026l': ['update', false],
};

/** A sequence that begins with `ESC [`, a printable character, or another control character. */
const TOKENS = /\u001B\[([^@-~]*[@-~])|([^\p{Cc}])|[^]/gu; // oxlint-disable-line no-control-regex
/** An incomplete sequence, whose end is in a later write. */
const UNFINISHED = /\u001B(?:\[[^@-~]*)?$/; // oxlint-disable-line no-control-regex

function unknown(what: string): Error {
  return new Error(`the terminal of the recordings does not know ${JSON.stringify(what)}`);
}
