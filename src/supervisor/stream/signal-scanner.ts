import { EXIT_PROTOCOL } from '../../protocol/exit-signal-shape.ts';
import {
  CLOSING_CHARACTERS,
  type ClosingSignal,
  createSignalFinder,
  findClosingSignal,
  findSignal,
  type FoundSignal,
  type SignalFinder,
} from '../../protocol/find-signals.ts';
import type { StreamReader } from '../../streams/reader.ts';
import type { StreamEvent } from '../../streams/stream-event.ts';

/** Reads what a process prints, piece by piece, for exit signals in the agent's own words. */
export interface SignalScanner {
  push(chunk: Uint8Array): void;
  /**
   * The turn or the process has ended: only now does an exit signal count. `lastWords` is the client's own copy of the last message, which
   * its hook may bring before the pipe does.
   */
  endTurn(lastWords?: string): ClosingSignal;
}

/** Plain output: all of it is the agent's, and the last complete signal counts. */
export function scanText(): SignalScanner {
  const watch = new OutputSignalFinder();
  return {
    push: (chunk) => watch.push(chunk),
    endTurn: (lastWords = '') => {
      const [printed, last] = [watch.end(), findSignal(lastWords)];
      return last.kind === 'none' ? printed : last;
    },
  };
}

/**
 * A stream of JSON lines, as the client prints them. Only the agent's own words count, not the output of a tool or a message to the agent;
 * and of these only a signal that ends the last message of the turn.
 */
export function scanStream({ readLine }: StreamReader, onSaid: (said: StreamEvent) => void): SignalScanner {
  const watch = new OutputSignalFinder();
  const closing = new LastMessage();
  const lines = splitLines((line) => {
    for (const said of readLine(line, Date.now())) {
      if (said.kind === 'words') {
        watch.push(Buffer.from(said.text));
        closing.push(said.text);
      }
      if (said.kind === 'tool-started') closing.clear();
      onSaid(said);
    }
  });
  return {
    push: lines,
    endTurn: (lastWords = '') => {
      const found = findClosingSignal(lastWords.trim() === '' ? closing.text : lastWords);
      const hasNamedOne = watch.end().kind !== 'none';
      closing.clear();
      return found.kind === 'none' && hasNamedOne ? { kind: 'early' } : found;
    },
  };
}

/** The end of what the agent wrote since it last used a tool. A message comes whole or in pieces; a tool call ends it. */
class LastMessage {
  text = '';

  push(words: string): void {
    this.text += words;
    if (this.text.length > 2 * CLOSING_CHARACTERS) this.text = this.text.slice(-CLOSING_CHARACTERS);
  }

  clear(): void {
    this.text = '';
  }
}

/** Calls for each whole line. A line longer than any message is passed over; memory stays bounded. */
export function splitLines(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      pieces.push(chunk.subarray(from, end));
      bytes += end - from;
      if (bytes <= MAX_LINE_BYTES && bytes > 0) onLine(Buffer.concat(pieces).toString('utf8'));
      pieces = [];
      bytes = 0;
      from = end + 1;
    }
    if (from === chunk.length) return;
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) pieces = [];
    else pieces.push(chunk.subarray(from));
  };
}

const MAX_LINE_BYTES = 4 * 1024 * 1024;

/**
 * Looks for exit signals in any amount of output. Reading every brace costs a microsecond a character, and a signal names its protocol:
 * so output is only searched for that name, at the speed of memory, and read from a little before it until a little behind it.
 */
export class OutputSignalFinder {
  /** What came last, round and round. */
  readonly #recent = Buffer.alloc(AROUND_BYTES);
  #at = 0;
  #isFull = false;
  #finder: SignalFinder | undefined;
  /** How much more is read before the search is enough again. */
  #left = 0;
  #last: FoundSignal = { kind: 'none' };

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) this.#push(chunk.subarray(from, from + PIECE_BYTES));
  }

  /** The turn is over: the last signal counts, and the next turn begins anew. */
  end(): FoundSignal {
    this.#settle();
    const found = this.#last;
    this.#last = { kind: 'none' };
    this.#at = 0;
    this.#isFull = false;
    return found;
  }

  #push(piece: Uint8Array): void {
    const isNamed = this.#isNamed(piece);
    if (isNamed && this.#finder === undefined) {
      this.#finder = createSignalFinder();
      this.#finder.push(this.#before(AROUND_BYTES));
    }
    this.#finder?.push(piece);
    this.#left = isNamed ? AROUND_BYTES : this.#left - piece.length;
    if (this.#left <= 0) this.#settle();
    this.#remember(piece);
  }

  /** Also where the name began in the piece before. Nothing is copied but that: a flood would leave as much garbage again. */
  #isNamed(piece: Uint8Array): boolean {
    if (Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes(PROTOCOL_NAME)) return true;
    return Buffer.concat([this.#before(PROTOCOL_NAME.length), piece.subarray(0, PROTOCOL_NAME.length)]).includes(
      PROTOCOL_NAME,
    );
  }

  #settle(): void {
    const found = this.#finder?.end();
    this.#finder = undefined;
    if (found !== undefined && found.kind !== 'none') this.#last = found;
  }

  #remember(piece: Uint8Array): void {
    const fits = Math.min(piece.length, AROUND_BYTES - this.#at);
    this.#recent.set(piece.subarray(0, fits), this.#at);
    this.#recent.set(piece.subarray(fits), 0);
    this.#isFull ||= this.#at + piece.length >= AROUND_BYTES;
    this.#at = (this.#at + piece.length) % AROUND_BYTES;
  }

  #before(bytes: number): Buffer {
    const older = this.#isFull ? this.#recent.subarray(this.#at) : Buffer.alloc(0);
    const newer = this.#recent.subarray(0, this.#at);
    return bytes <= newer.length ? newer.subarray(-bytes) : Buffer.concat([older, newer]).subarray(-bytes);
  }
}

const PROTOCOL_NAME = Buffer.from(EXIT_PROTOCOL);
/** Twice the largest signal: what stands around it tells whether it stands by itself. */
const AROUND_BYTES = 131_072;
const PIECE_BYTES = 65_536;
