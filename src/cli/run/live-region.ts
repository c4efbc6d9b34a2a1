import { isatty } from 'node:tty';

/**
 * Lines at the end of a terminal's output that are repainted in place. Earlier output stays above them, and the last
 * paint stays at the end. Keys are read without echo, because an echoed Enter would move the lines. Ctrl-C is passed on
 * as a signal.
 */
export class LiveRegion implements Disposable {
  readonly #write: (text: string) => void;
  readonly #onResize: () => void;
  #height = 0;
  #shown = '';
  #isOpen = true;

  /** `onResize` must paint again. */
  constructor(write: (text: string) => void, onResize: () => void) {
    this.#write = write;
    this.#onResize = () => {
      // The terminal may have wrapped the lines differently, so the screen must be cleared.
      this.#height = 0;
      this.#shown = '';
      write(CLEAR);
      onResize();
    };
    process.stdout.on('resize', this.#onResize);
    if (isatty(0)) {
      process.stdin.setRawMode(true);
      process.stdin.on('data', this.#onKey);
    }
    write(ENTER);
    process.on('exit', this.#restore);
    for (const name of ENDING) process.on(name, this.#onEnd);
  }

  get columns(): number {
    return Math.max(1, process.stdout.columns || 80);
  }

  /** One less than the terminal has, because the cursor is below the region. */
  get rows(): number {
    return Math.max(1, (process.stdout.rows || 24) - 1);
  }

  /** Each line must fit the width, and all lines the height. */
  paint(lines: readonly string[]): void {
    const text = repaintRegion(lines);
    if (text === this.#shown || !this.#isOpen) return;
    this.#write(`${BEGIN_UPDATE}${this.#height === 0 ? '' : `\u001B[${this.#height}A`}${text}${END_UPDATE}`);
    this.#shown = text;
    this.#height = lines.length;
  }

  [Symbol.dispose](): void {
    this.#restore();
    process.off('exit', this.#restore);
    for (const name of ENDING) process.off(name, this.#onEnd);
    process.stdout.off('resize', this.#onResize);
    process.stdin.off('data', this.#onKey);
    // An open input would keep the process alive.
    if (isatty(0)) process.stdin.pause();
  }

  readonly #onKey = (keys: Buffer): void => {
    // In raw mode Ctrl-C sends no signal.
    if (keys.includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
  };

  readonly #onEnd = (name: NodeJS.Signals): void => {
    this[Symbol.dispose]();
    // Without another listener the signal ends the process, as by default.
    if (process.listenerCount(name) === 0) process.kill(process.pid, name);
  };

  readonly #restore = (): void => {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#write(LEAVE);
    if (isatty(0)) process.stdin.setRawMode(false);
  };
}

/**
 * Clears and rewrites every line, and erases everything below the last one. Each line is cleared first: clearing after
 * a line that ends in the last column would erase its end.
 */
export function repaintRegion(lines: readonly string[]): string {
  return `${lines.map((line) => `\r\u001B[K${line}\n`).join('')}\u001B[J`;
}

const CTRL_C = 3;
const ENDING = ['SIGTERM', 'SIGHUP'] as const;
const CLEAR = '\u001B[H\u001B[2J';
/** Hides the cursor and turns line wrapping off; `LEAVE` undoes both. */
const ENTER = '\u001B[?25l\u001B[?7l';
const LEAVE = '\u001B[?7h\u001B[?25h';
/** Synchronized output, which avoids flicker. Terminals without it ignore these. */
const BEGIN_UPDATE = '\u001B[?2026h';
const END_UPDATE = '\u001B[?2026l';
