import type { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';
import type { ModelServer } from '../models/model-server.ts';

/** Long enough even for a busy machine. */
const PATIENCE_MS = 60_000;
/** The time after which input is repeated: short at first, then growing. */
const WONDER_MS = 1000;

/**
 * A user in front of a client in a terminal. Waits for what the screen shows, never for a fixed time: text is sent when
 * it is on the screen, and keys are pressed again if they had no effect.
 */
export class Person implements Disposable {
  readonly terminal: Terminal;
  readonly #model: ModelServer;
  readonly #answering: NodeJS.Timeout;
  #answered = 0;
  /** The output without positions and spaces, because clients draw word by word at positions. */
  #plain = '';
  #read = 0;
  #hasLeft = false;

  constructor(terminal: Terminal, model: ModelServer) {
    this.terminal = terminal;
    this.#model = model;
    // Clients query the terminal's cursor position and features, and some wait for the answer.
    this.#answering = setInterval(() => this.#answer(), 20);
    void terminal.exit().then(() => (this.#hasLeft = true));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#answering);
  }

  /** Waits until the screen shows this; with `from`, only output after that offset counts. */
  async sees(words: RegExp, deadlineMs = PATIENCE_MS, from = 0): Promise<void> {
    let looks = 0;
    const isThere = (): boolean => {
      if (words.test(this.#look().slice(from))) return true;
      // If a client redraws only changes, the output lacks whole words, so the picture is searched. That is slow, so it
      // happens rarely.
      return (looks += 1) % 25 === 0 && from === 0 && words.test(this.terminal.picture.join('').replaceAll(/\s+/g, ''));
    };
    try {
      await until(`the terminal shows ${words}`, isThere, deadlineMs);
    } catch (error) {
      throw new Error(`${String(error)}; it has written:\n${this.#look().slice(-2000)}`, { cause: error });
    }
  }

  /** Types a text, and waits until the model receives it. */
  async asks(words: string): Promise<void> {
    const before = this.#model.asked.length;
    await this.#type(words);
    await this.#press('\r', 'the model is asked', () => this.#model.asked.length > before);
  }

  /**
   * Types the exit command. A menu may open over it and take the key, so the key is pressed again, which does nothing
   * on an empty line.
   */
  async leaves(words: string, idle?: RegExp): Promise<void> {
    if (idle !== undefined) await until('the client is idle', () => idle.test(this.#look().slice(-TAIL)), PATIENCE_MS);
    await this.#type(words);
    await this.#press('\r', 'the client has left', () => this.#hasLeft);
  }

  /**
   * Types the text first, and presses Enter when the text is on the screen: together they would look like pasted text.
   * A client that is still starting ignores input; then the line is cleared and typed again.
   */
  async #type(words: string): Promise<void> {
    const sought = new RegExp(RegExp.escape(words.replaceAll(' ', '')));
    for (let waitMs = WONDER_MS; ; waitMs *= 2) {
      const from = this.#look().length;
      this.terminal.type(words);
      try {
        return await this.sees(sought, waitMs, from);
      } catch (error) {
        const isDrawn = sought.test(this.terminal.picture.join('').replaceAll(/\s+/g, ''));
        if (isDrawn) return;
        if (waitMs > PATIENCE_MS) throw error;
        this.terminal.type(WIPE);
      }
    }
  }

  async #press(key: string, what: string, holds: () => boolean): Promise<void> {
    for (let waitMs = WONDER_MS; ; waitMs *= 2) {
      this.terminal.type(key);
      try {
        await until(what, holds, waitMs);
        return;
      } catch (error) {
        if (waitMs <= PATIENCE_MS) continue;
        const said = this.#model.asked.at(-1)?.messages.at(-1)?.text.slice(0, 200) ?? 'nothing';
        throw new Error(
          `${String(error)}; the model was last told: ${said}; it has written:\n${this.#look().slice(-2000)}`,
          { cause: error },
        );
      }
    }
  }

  #answer(): void {
    const asked = this.terminal.written.split('\u001B[6n').length - 1;
    for (; this.#answered < asked; this.#answered++) this.terminal.type('\u001B[1;1R\u001B[?62c');
  }

  /** Parses only new output, because a client writes too much in a minute to parse it all fifty times a second. */
  #look(): string {
    const { written } = this.terminal;
    const fresh = written.slice(this.#read);
    const cut = fresh.search(UNFINISHED);
    const whole = cut < 0 ? fresh : fresh.slice(0, cut);
    this.#plain += whole.replaceAll(SEQUENCES, '').replaceAll(/\s+/g, '');
    this.#read += whole.length;
    return this.#plain;
  }
}

/** A few screens of output. */
const TAIL = 10_000;
/** Ctrl-U clears the line that is being typed. */
const WIPE = '\u0015';
// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001B\[[^A-Za-z]*[A-Za-z]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B./g;
/** An escape sequence whose end has not arrived yet. */
// oxlint-disable-next-line no-control-regex
const UNFINISHED = /\u001B(?:\[[^A-Za-z]*|\][^\u0007\u001B]*)?$/;
