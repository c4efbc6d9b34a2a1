import { EXIT_PROTOCOL } from '../../protocol/exit-signal/exit-signal-shape.ts';
import {
  CLOSING_CHARACTERS,
  type ClosingSignal,
  createSignalFinder,
  findClosingSignal,
  type FoundSignal,
  type SignalFinder,
} from '../../protocol/exit-signal/find-signals.ts';
import { splitLines } from '../../protocol/text/split-lines.ts';
import { stripTerminalCodes } from '../../protocol/text/terminal-codes.ts';
import type { ClientStream } from '../../streams/client-stream.ts';
import type { StreamEvent } from '../../streams/stream-event.ts';

export interface SignalScanner {
  push(chunk: Uint8Array): void;
  /**
   * Ends a turn; only now does a signal count. `lastWords`: the last message by the hook, which may arrive before the
   * pipe has it.
   */
  endTurn(lastWords?: string): ClosingSignal;
  /** Ends the process. `code`: its exit code; null if a signal of the system ended it. */
  endProcess(code: number | null): ProcessSignal;
}

/** `failed`: the process printed a signal, but did not exit with code 0. */
export type ProcessSignal = ClosingSignal | { readonly kind: 'failed' };

/**
 * Scans plain output. A signal counts only if it is the last output before exit code 0: a program also prints what it
 * reads, such as a document that describes the protocol.
 */
export function scanText(): SignalScanner {
  const recent = new RecentBytes();
  return {
    push: (chunk) => recent.push(chunk),
    endTurn: (lastWords = '') => findClosingSignal(lastWords),
    endProcess: (code) => {
      const found = findClosingSignal(stripTerminalCodes(recent.last(AROUND_BYTES).toString('utf8')));
      return found.kind === 'none' || code === 0 ? found : { kind: 'failed' };
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
  const endTurn = (lastWords = ''): ClosingSignal => {
    const found = findClosingSignal(lastWords.trim() === '' ? closing : lastWords);
    const hasNamedOne = watch.end().kind !== 'none';
    closing = '';
    return found.kind === 'none' && hasNamedOne ? { kind: 'early' } : found;
  };
  return { push: lines, endTurn, endProcess: () => endTurn() };
}

/**
 * Finds the protocol's name and parses only the text around it, because parsing at every brace takes 1 µs per
 * character.
 */
export class OutputSignalFinder {
  readonly #recent = new RecentBytes();
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
    this.#recent.clear();
    return found;
  }

  #push(piece: Uint8Array): void {
    const isNamed = this.#isNamed(piece);
    if (isNamed && this.#finder === undefined) {
      this.#finder = createSignalFinder();
      this.#finder.push(this.#recent.last(AROUND_BYTES));
    }
    this.#finder?.push(piece);
    this.#left = isNamed ? AROUND_BYTES : this.#left - piece.length;
    if (this.#left <= 0) this.#settle();
    this.#recent.push(piece);
  }

  /**
   * Reports whether the name occurs, even split over two pieces. Only the joint is copied, since a flood of output
   * would double the garbage.
   */
  #isNamed(piece: Uint8Array): boolean {
    if (Buffer.from(piece.buffer, piece.byteOffset, piece.length).includes(PROTOCOL_NAME)) return true;
    return Buffer.concat([this.#recent.last(PROTOCOL_NAME.length), piece.subarray(0, PROTOCOL_NAME.length)]).includes(
      PROTOCOL_NAME,
    );
  }

  #settle(): void {
    const found = this.#finder?.end();
    this.#finder = undefined;
    if (found !== undefined && found.kind !== 'none') this.#last = found;
  }
}

/** The last bytes of a stream, in a ring. */
class RecentBytes {
  readonly #ring = Buffer.alloc(AROUND_BYTES);
  #at = 0;
  #isFull = false;

  push(chunk: Uint8Array): void {
    const kept = chunk.subarray(-AROUND_BYTES);
    const fits = Math.min(kept.length, AROUND_BYTES - this.#at);
    this.#ring.set(kept.subarray(0, fits), this.#at);
    this.#ring.set(kept.subarray(fits), 0);
    this.#isFull ||= this.#at + kept.length >= AROUND_BYTES;
    this.#at = (this.#at + kept.length) % AROUND_BYTES;
  }

  clear(): void {
    this.#at = 0;
    this.#isFull = false;
  }

  last(bytes: number): Buffer {
    const older = this.#isFull ? this.#ring.subarray(this.#at) : Buffer.alloc(0);
    const newer = this.#ring.subarray(0, this.#at);
    return bytes <= newer.length ? newer.subarray(-bytes) : Buffer.concat([older, newer]).subarray(-bytes);
  }
}

const PROTOCOL_NAME = Buffer.from(EXIT_PROTOCOL);
/** Twice the largest signal, because the text around it shows whether it stands alone. */
const AROUND_BYTES = 131_072;
const PIECE_BYTES = 65_536;
