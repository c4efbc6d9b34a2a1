import {
  countWrittenBytes,
  endsAnswer,
  isErrorEvent,
  isKeepAlive,
  mergeUse,
  readBackground,
  readModel,
  readUsage,
} from './read-usage.ts';
import { NO_TOKENS, type TokenUse } from './request-meter.ts';

export interface AnswerEnd {
  /** The estimated input of the request. */
  readonly input: number;
  /** False if the answer was cut, or could not be decoded. */
  readonly isWhole: boolean;
  /** The seconds since the request was sent. */
  readonly seconds: number;
  /** How many answers the model writes at the same time. */
  readonly answers: number;
  /** The model of an answer that names none. */
  readonly model: string;
}

/**
 * Reads the usage from the body of an answer while it passes: a JSON document, or server-sent events. An answer without
 * its final usage is counted by a bound, so that it is not free to leave out the usage, or to cut the answer before it.
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
  #hasBegun = false;
  #hasFailed = false;
  #hasEnded = false;
  #model: string | undefined;
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
  end(end: AnswerEnd): TokenUse {
    // A document that can be parsed is complete.
    if (this.#isJson === true) this.#hasEnded = this.#read(this.#rest);
    if (this.#isJson === false) {
      this.#readLine(this.#rest);
      this.#readLine('');
    }
    const model = this.#used?.model ?? this.#model ?? end.model;
    if (this.#hasFailed && !this.#hasBegun) return { ...NO_TOKENS, model };
    const { input, output, cached } = this.#used ?? NO_TOKENS;
    const named = input + cached > 0 ? { input, cached } : { input: end.input, cached: 0 };
    const isFinal = end.isWhole && this.#hasEnded && !this.#isTooLong && output > 0;
    return { model, ...named, output: isFinal ? output : Math.max(output, this.#bound(end)) };
  }

  /** The most that was written, as far as its bytes and its time tell. */
  #bound({ seconds, answers }: AnswerEnd): number {
    // The bytes of a stream's frames are no tokens, but an unknown format has nothing else to count.
    const seen = this.#written > 0 || this.#used !== undefined ? this.#written : this.#bytes;
    return Math.max(seen, Math.ceil(seconds * TOKENS_PER_SECOND) * answers, this.#background);
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

  /** Returns whether the text is a JSON document. */
  #read(text: string): boolean {
    const document = parse(text);
    if (document === undefined) return false;
    for (const each of Array.isArray(document) ? document : [document]) this.#readEvent(each);
    return true;
  }

  #readEvent(event: unknown): void {
    this.#used = mergeUse(this.#used, readUsage(event));
    this.#model = readModel(event) ?? this.#model;
    this.#written += countWrittenBytes(event);
    if (isErrorEvent(event)) this.#hasFailed = true;
    else if (!isKeepAlive(event)) this.#hasBegun = true;
    this.#hasEnded ||= endsAnswer(event);
    // Work that has ended goes on no longer.
    this.#background = endsAnswer(event) ? 0 : Math.max(this.#background, readBackground(event) ?? 0);
  }
}

/** The longest document, or event of a stream, that is read. */
const MAX_CHARACTERS = 32 * 1024 ** 2;
/** What a model may have thought meanwhile. No API that Baton knows is faster for long. */
const TOKENS_PER_SECOND = 100;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
