import { createSignalFinder, type FoundSignal, type SignalFinder } from '../../protocol/find-signals.ts';
import { EXIT_PROTOCOL } from '../../protocol/exit-signal-shape.ts';

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
