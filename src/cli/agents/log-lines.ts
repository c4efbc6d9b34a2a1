import { stripVTControlCharacters } from 'node:util';
import { printable } from '../text.ts';

/** Turns the bytes of a log into lines that are safe to print, as they come. */
export class LogLines {
  readonly #decoder = new TextDecoder();
  #rest = '';

  push(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    // A line without an end is shown in parts: nobody knows whether it will ever have one.
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines.map(safeLine);
  }

  /** What is left when nothing more will come. */
  end(): string[] {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = '';
    return rest === '' ? [] : [safeLine(rest)];
  }
}

const MAX_LINE = 65_536;

/** What a terminal would show of the line, without obeying it: of a progress bar its last state. */
function safeLine(line: string): string {
  const plain = stripVTControlCharacters(line).replace(/\r+$/, '');
  return printable(plain.slice(plain.lastIndexOf('\r') + 1));
}
