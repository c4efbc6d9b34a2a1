import { EXIT_PROTOCOL } from '../../protocol/exit-signal/exit-signal-shape.ts';
import {
  CLOSING_CHARACTERS,
  type ClosingSignal,
  createSignalFinder,
  findClosingSignal,
  findSignal,
  type FoundSignal,
  type SignalFinder,
} from '../../protocol/exit-signal/find-signals.ts';
import { splitLines } from '../../protocol/text/split-lines.ts';
import type { ClientStream } from '../../streams/client-stream.ts';
import type { StreamEvent } from '../../streams/stream-event.ts';

export interface SignalScanner {
  push(chunk: Uint8Array): void;
  /**
   * Ends a turn; only now does a signal count. `lastWords`: the last message by the hook, which may arrive before the
   * pipe has it.
   */
  endTurn(lastWords?: string): ClosingSignal;
}

/** Scans plain output, all of which is the agent's. The last complete signal counts. */
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

/** Scans a client's JSON lines. Only a signal at the end of the agent's own last message of the turn counts. */
export function scanStream(
  { readLine }: Pick<ClientStream, 'readLine'>,
  onEvent: (event: StreamEvent) => void,
): SignalScanner {
  const watch = new OutputSignalFinder();
  /** The end of the agent's text since its last tool call. A message arrives whole or in pieces. */
  let closing = '';
  const lines = splitLines((line) => {
    for (const event of readLine(line, Date.now())) {
      if (event.kind === 'words') {
        watch.push(Buffer.from(event.text));
        closing = (closing + event.text).slice(-2 * CLOSING_CHARACTERS);
      }
      if (event.kind === 'tool-started') closing = '';
      onEvent(event);
    }
  });
  return {
    push: lines,
    endTurn: (lastWords = '') => {
      const found = findClosingSignal(lastWords.trim() === '' ? closing : lastWords);
      const hasNamedOne = watch.end().kind !== 'none';
      closing = '';
      return found.kind === 'none' && hasNamedOne ? { kind: 'early' } : found;
    },
  };
}

/**
 * Finds the protocol's name and parses only the text around it, because parsing at every brace takes 1 µs per
 * character.
 */
export class OutputSignalFinder {
  readonly #recent = Buffer.alloc(AROUND_BYTES);
  #at = 0;
  #isFull = false;
  #finder: SignalFinder | undefined;
  /** Bytes still to be parsed after the last match. */
  #left = 0;
  #last: FoundSignal = { kind: 'none' };

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) this.#push(chunk.subarray(from, from + PIECE_BYTES));
  }

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

  /**
   * Reports whether the name occurs, even split over two pieces. Only the joint is copied, since a flood of output
   * would double the garbage.
   */
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
/** Twice the largest signal, because the text around it shows whether it stands alone. */
const AROUND_BYTES = 131_072;
const PIECE_BYTES = 65_536;
