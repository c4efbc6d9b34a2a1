import type { ReadStream, WriteStream } from 'node:tty';

/**
 * A terminal that a command has to itself for a while: another screen, no cursor, keys as they are pressed. Whatever ends the command,
 * the terminal is as it was.
 */
export class Screen implements Disposable {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #write: (text: string) => void;
  #painted: readonly string[] = [];
  #restored = false;

  constructor(input: ReadStream, output: WriteStream, write: (text: string) => void) {
    this.#input = input;
    this.#output = output;
    this.#write = write;
    if (input.isTTY) input.setRawMode(true);
    write(ENTER);
    process.on('exit', this.#restore);
  }

  get columns(): number {
    return Math.max(1, this.#output.columns || 80);
  }

  get rows(): number {
    return Math.max(1, this.#output.rows || 24);
  }

  paint(lines: readonly string[]): void {
    const text = repaint(this.#painted, lines);
    this.#painted = lines;
    if (text !== '') this.#write(text);
  }

  /** Makes the next painting a whole one: the terminal has another size, and moved what was there. */
  forget(): void {
    this.#painted = [];
    this.#write('\u001B[2J');
  }

  /** Something that is not part of the picture, such as a bell. */
  send(text: string): void {
    this.#write(text);
  }

  onResize(listener: () => void): void {
    this.#output.on('resize', listener);
  }

  onKey(listener: (key: string) => void): void {
    this.#input.on('data', (chunk: Buffer) => listener(chunk.toString('utf8')));
  }

  [Symbol.dispose](): void {
    this.#restore();
    process.off('exit', this.#restore);
    this.#output.removeAllListeners('resize');
    this.#input.removeAllListeners('data');
    this.#input.destroy();
  }

  readonly #restore = (): void => {
    if (this.#restored) return;
    this.#restored = true;
    this.#write(LEAVE);
    if (this.#input.isTTY) this.#input.setRawMode(false);
  };
}

/** The other screen, no cursor, no line wrapping; and back. */
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';
/** Terminals that know this show what is between them in one go; others ignore it. */
const BEGIN_UPDATE = '\u001B[?2026h';
const END_UPDATE = '\u001B[?2026l';

/** What turns one picture into another. Only lines that have changed are written, all at once: nothing flickers. */
export function repaint(before: readonly string[], after: readonly string[]): string {
  let text = '';
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const line = after[row] ?? '';
    if (line !== (before[row] ?? '')) text += `\u001B[${row + 1};1H${line}\u001B[K`;
  }
  return text === '' ? '' : `${BEGIN_UPDATE}${text}${END_UPDATE}`;
}
