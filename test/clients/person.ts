import type { Terminal } from '../processes/terminal.ts';
import { until } from '../processes/until.ts';
import type { ModelServer } from '../models/model-server.ts';

/** However busy the machine is: what does not come within this time does not come. */
const PATIENCE_MS = 60_000;
/** When a person begins to wonder whether the client has heard them, and tries again: soon at first, then less and less often. */
const WONDER_MS = 1000;

/**
 * Somebody in front of a client in a terminal. They wait for what they see, never for a time to pass: words are sent when they stand on
 * the screen, and keys are pressed again where nothing has come of them.
 */
export class Person implements Disposable {
  readonly terminal: Terminal;
  readonly #model: ModelServer;
  readonly #answering: NodeJS.Timeout;
  #answered = 0;
  /** What was written, without places and spaces: clients draw word by word, each at its place. */
  #plain = '';
  #read = 0;
  #hasLeft = false;

  constructor(terminal: Terminal, model: ModelServer) {
    this.terminal = terminal;
    this.#model = model;
    // Clients ask the terminal where its cursor is and what it can do, and some wait for that.
    this.#answering = setInterval(() => this.#answer(), 20);
    void terminal.exit().then(() => (this.#hasLeft = true));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#answering);
  }

  /** Waits until it shows this; behind `from`, where it is not to be what stood there before. */
  async sees(words: RegExp, deadlineMs = PATIENCE_MS, from = 0): Promise<void> {
    let looks = 0;
    const isThere = (): boolean => {
      if (words.test(this.#look().slice(from))) return true;
      // A client that draws only what has changed leaves no whole words behind: then the picture tells. That takes long to draw.
      return (looks += 1) % 25 === 0 && from === 0 && words.test(this.terminal.picture.join('').replaceAll(/\s+/g, ''));
    };
    try {
      await until(`the terminal shows ${words}`, isThere, deadlineMs);
    } catch (error) {
      throw new Error(`${String(error)}; it has written:\n${this.#look().slice(-2000)}`, { cause: error });
    }
  }

  /** Says something, and waits until the model hears it. */
  async asks(words: string): Promise<void> {
    const before = this.#model.asked.length;
    await this.#type(words);
    await this.#press('\r', 'the model is asked', () => this.#model.asked.length > before);
  }

  /** Says the words that end the client. A menu may open over them, and take the key for itself: it is pressed once more, on an empty line it does nothing. */
  async leaves(words: string, idle?: RegExp): Promise<void> {
    if (idle !== undefined) await until('the client is idle', () => idle.test(this.#look().slice(-TAIL)), PATIENCE_MS);
    await this.#type(words);
    await this.#press('\r', 'the client has left', () => this.#hasLeft);
  }

  /**
   * Words first, the key that sends them when they are on the screen: together they would be taken for pasted text. A client that is not
   * all there yet does not hear them: then whatever has come of them is wiped out, and they are typed again.
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

  /** Only what is new is read: a client writes more in a minute than can be read anew fifty times a second. */
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

/** Some screens full. */
const TAIL = 10_000;
/** Ctrl-U: the line that is being typed is empty again. */
const WIPE = '\u0015';
// oxlint-disable-next-line no-control-regex
const SEQUENCES = /\u001B\[[^A-Za-z]*[A-Za-z]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B./g;
/** A sequence whose end has not come yet. */
// oxlint-disable-next-line no-control-regex
const UNFINISHED = /\u001B(?:\[[^A-Za-z]*|\][^\u0007\u001B]*)?$/;
