/**
 * What both ends of a call channel speak. A frame is a line of words, the last of which is the number of bytes that follow it:
 *
 *     call ID OPERATION KEY TOKEN PATH BYTES     a call; an empty TOKEN or PATH is the one that the channel was opened with
 *     cancel ID 0                                its caller does not want the answer any more
 *     answer ID BYTES                            what became of a call, in whatever order
 */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  /** What has come of a frame that is not complete yet. */
  #rest: Buffer | undefined;
  /** Without so many bytes another look at the rest is in vain. */
  #needed = 0;
  #skipped = 0;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** Hands on every frame that is complete now. False where this is no frame, nor the beginning of one: nothing after it can be read. */
  push(chunk: Buffer): boolean {
    const passed = this.#skip(chunk);
    const bytes = this.#rest === undefined ? passed : Buffer.concat([this.#rest, passed]);
    if (bytes.length < this.#needed) return this.#keep(bytes, this.#needed);
    this.#rest = undefined;
    this.#needed = 0;
    let at = 0;
    while (at < bytes.length) {
      const end = bytes.indexOf(NEWLINE, at);
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

  /** The body of a frame that was too large passes by. */
  #skip(chunk: Buffer): Buffer {
    if (this.#skipped === 0) return chunk;
    const passed = Math.min(this.#skipped, chunk.length);
    this.#skipped -= passed;
    return chunk.subarray(passed);
  }
}

export interface FrameReaderOptions {
  /** A body that is announced to be larger is not kept: its frame comes without one. */
  readonly bodyBytes: number;
  /** Those whose frames may be larger, by the words before the body. */
  readonly bodyBytesOf?: (words: readonly string[]) => number | undefined;
  /** False if the frame is invalid: the other end does not speak this protocol. */
  readonly onFrame: (words: readonly string[], body: Buffer | undefined) => boolean;
}

export function renderFrame(words: string, body: string): string {
  return `${words} ${Buffer.byteLength(body)}\n${body}`;
}

/** A text as one word. The word is never empty: an empty word means that there is no text. */
export function toWord(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : text.replaceAll(/[^\x21-\x7e]/g, '_') || '_';
}

const NEWLINE = 0x0a;
/** Tokens and paths are in the head. */
const HEAD_BYTES = 16 * 1024;

function sizeIn(words: readonly string[]): number | undefined {
  const last = words.at(-1) ?? '';
  return /^\d{1,15}$/.test(last) ? Number(last) : undefined;
}
