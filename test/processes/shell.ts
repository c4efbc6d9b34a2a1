import { stripVTControlCharacters } from 'node:util';
import { Terminal, type TerminalOptions } from './terminal.ts';
import { until } from './until.ts';

/** A user at a shell in a pseudo-terminal, who only sees what is printed. */
export class Shell implements AsyncDisposable {
  readonly #terminal: Terminal;
  #mark = 0;

  private constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  static async open({ cwd, env }: Pick<TerminalOptions, 'cwd' | 'env'>): Promise<Shell> {
    const settings = { ...env, PS1: PROMPT };
    const shell = new Shell(new Terminal(['/bin/sh', '-i'], { cwd, env: settings, columns: 200, rows: 60 }));
    await until('the shell is ready', () => ENDED.test(shell.#seen));
    return shell;
  }

  /** Types a line, and reads until the terminal shows `waitsFor`. */
  async types(line: string, waitsFor = ENDED, patienceMs = 60_000): Promise<string> {
    this.#mark = this.#terminal.written.length;
    this.#terminal.type(`${line}\n`);
    const what = `the terminal shows ${String(waitsFor)} after ${line}`;
    try {
      return await until(what, () => waitsFor.test(this.#seen) && this.#seen, patienceMs);
    } catch (error) {
      throw new Error(`${String(error)}; it shows:\n${this.#seen.slice(-3000)}`, { cause: error });
    }
  }

  get #seen(): string {
    return stripVTControlCharacters(this.#terminal.written.slice(this.#mark)).replaceAll('\r', '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#terminal.hangUp();
    await this.#terminal[Symbol.asyncDispose]();
  }
}

const PROMPT = '[$?] $ ';
/** The prompt for the next command. */
export const ENDED: RegExp = /^\[\d+\] \$ $/m;
/** Baton's prompt for an answer, or the shell's after the command has ended. */
export const ASKED: RegExp = /, s to skip, q to quit: $|^\[\d+\] \$ $/m;
