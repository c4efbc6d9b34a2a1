/**
 * The protocol of a call channel. A frame is a line of words, the last of which is the number of bytes that follow it:
 *
 *     call ID OPERATION KEY TOKEN PATH BYTES     a call; an empty TOKEN or PATH means the channel's own
 *     cancel ID 0                                the caller no longer waits for the answer
 *     answer ID BYTES                            the answer to a call, in any order
 */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  #rest: Buffer | undefined;
  /** How many bytes must be there before the rest is parsed again. */
  #needed = 0;
  #skipped = 0;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Emits every complete frame. Returns false if the bytes are not a frame, after which the stream is unusable. */
  push(chunk: Buffer): boolean {
    const passed = this.#skip(chunk);
    const bytes = this.#rest === undefined ? passed : Buffer.concat([this.#rest, passed]);
    if (bytes.length < this.#needed) return this.#keep(bytes, this.#needed);
    this.#rest = undefined;
    this.#needed = 0;
    let at = 0;
    while (at < bytes.length) {
      const end = bytes.indexOf(0x0a, at);
      if (end < 0) return bytes.length - at <= HEAD_BYTES && this.#keep(bytes.subarray(at), 0);
      const words = bytes.toString('latin1', at, end).split(' ');
      const size = sizeIn(words);
      if (size === undefined || end - at > HEAD_BYTES) return false;
      const [from, to] = [end + 1, end + 1 + size];
      if (size > this.#options.bodyBytes && size > (this.#options.bodyBytesOf?.(words) ?? 0)) {
        if (!this.#options.onFrame(words, undefined)) return false;
        this.#skipped = size;
        at = from + (bytes.length - from - this.#skip(bytes.subarray(from)).length);
        continue;
      }
      if (to > bytes.length) return this.#keep(bytes.subarray(at), to - at);
      if (!this.#options.onFrame(words, bytes.subarray(from, to))) return false;
      at = to;
    }
    return true;
  }

  #keep(rest: Buffer, needed: number): true {
    this.#rest = rest;
    this.#needed = needed;
    return true;
  }

  #skip(chunk: Buffer): Buffer {
    if (this.#skipped === 0) return chunk;
    const passed = Math.min(this.#skipped, chunk.length);
    this.#skipped -= passed;
    return chunk.subarray(passed);
  }
}

export interface FrameReaderOptions {
  /** The frame of a larger body is emitted without the body. */
  readonly bodyBytes: number;
  /** Allows larger bodies for some frames, decided by the words before the body. */
  readonly bodyBytesOf?: (words: readonly string[]) => number | undefined;
  /** Returns false if the frame is invalid. */
  readonly onFrame: (words: readonly string[], body: Buffer | undefined) => boolean;
}

export function renderFrame(words: string, body: string): string {
  return `${words} ${Buffer.byteLength(body)}\n${body}`;
}

/** Encodes a text as one word. The word is never empty, because an empty word means no text. */
export function toWord(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : text.replaceAll(/[^\x21-\x7e]/g, '_') || '_';
}

/** Large enough for tokens and paths. */
const HEAD_BYTES = 16 * 1024;

function sizeIn(words: readonly string[]): number | undefined {
  const last = words.at(-1) ?? '';
  return /^\d{1,15}$/.test(last) ? Number(last) : undefined;
}
