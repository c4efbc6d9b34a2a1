import { countWrittenBytes, isErrorEvent, mergeUse, readBackground, readUsage } from './read-usage.ts';
import { NO_TOKENS, type TokenUse } from './request-meter.ts';

export interface AnswerEnd {
  /** The estimated input of the request. */
  readonly input: number;
  /** False if the answer was cut, or could not be decoded. */
  readonly isWhole: boolean;
  /** The seconds since the request was sent. */
  readonly seconds: number;
}

/**
 * Reads the usage from the body of an answer while it passes: a JSON document, or server-sent events. What names no
 * usage is counted by a bound, so that an answer that is cut in time is not free.
 */
export class AnswerReader {
  readonly #decoder = new TextDecoder();
  #isJson: boolean | undefined;
  /** The JSON document, or the incomplete last line. */
  #rest = '';
  readonly #data: string[] = [];
  #bytes = 0;
  #written = 0;
  #isTooLong = false;
  #hasFailed = false;
  #used: TokenUse | undefined;
  #background = 0;

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#isTooLong) return;
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    if (this.#isJson === undefined && this.#rest.trimStart() !== '')
      this.#isJson = /^[[{]/.test(this.#rest.trimStart());
    if (this.#isJson === false) this.#readLines();
    if (this.#rest.length <= MAX_CHARACTERS) return;
    this.#isTooLong = true;
    this.#rest = '';
  }

  /** Returns the tokens of the answer, once it has ended. */
  end({ input, isWhole, seconds }: AnswerEnd): TokenUse {
    if (this.#isJson === true) this.#read(this.#rest);
    if (this.#isJson === false) {
      this.#readLine(this.#rest);
      this.#readLine('');
    }
    const used = this.#used;
    if (used !== undefined && isWhole && !this.#isTooLong) return used;
    if (this.#hasFailed) return { ...NO_TOKENS, output: this.#written, ...used };
    // The bytes of a stream's frames are no tokens, but an unknown format has nothing else to count.
    const seen = this.#written > 0 || used !== undefined ? this.#written : this.#bytes;
    const hidden = isWhole ? 0 : Math.ceil(seconds * TOKENS_PER_SECOND);
    const bound = Math.max(seen, hidden, this.#background);
    return { ...(used ?? { ...NO_TOKENS, input }), output: Math.max(used?.output ?? 0, bound) };
  }

  #readLines(): void {
    const lines = this.#rest.split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line.replace(/\r$/, ''));
  }

  #readLine(line: string): void {
    if (line.startsWith('data:')) this.#data.push(line.slice('data:'.length));
    else if (line === '' && this.#data.length > 0) this.#read(this.#data.splice(0).join('\n'));
  }

  #read(text: string): void {
    const document = parse(text);
    if (document === undefined) return;
    this.#used = mergeUse(this.#used, readUsage(document));
    this.#written += countWrittenBytes(document);
    this.#hasFailed ||= isErrorEvent(document);
    this.#background = Math.max(this.#background, readBackground(document) ?? 0);
  }
}

/** The longest document, or event of a stream, that is read. */
const MAX_CHARACTERS = 32 * 1024 ** 2;
/** What a model may have thought before the answer was cut. No API that Baton knows is faster for long. */
const TOKENS_PER_SECOND = 100;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
