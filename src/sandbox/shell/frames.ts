/**
 * The connection between the program that replaces a shell in the client's sandbox and the supervisor, which runs the
 * command in the second sandbox: frames of one byte for the kind, four for the length, and the content.
 */
export const FRAME = {
  /** `ShellRequest` as JSON, first and once. */
  request: 1,
  /** Bytes of a stream. */
  stdin: 2,
  stdout: 3,
  stderr: 4,
  /** The end of standard input; no content. */
  stdinEnd: 5,
  /** The name of a signal that the program received. */
  signal: 6,
  /** The exit code, as text. */
  exit: 7,
  /** The command can take a piece of standard input; no content. Nothing else waits behind input that is not read. */
  want: 8,
} as const;

export interface Frame {
  readonly kind: number;
  readonly content: Buffer;
}

/** A command that a client runs. `argv` begins with the path of the program. */
export interface ShellRequest {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The kernel allows two megabytes of arguments and variables; as JSON, they may take six times as many. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

export function renderFrame(kind: number, content: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(content);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
}

const HEADER_BYTES = 5;

/** Collects the bytes of a connection and returns the frames that are complete. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** The size of the next frame with its header, as soon as it is known. */
  #wanted = HEADER_BYTES;

  /** Returns the complete frames; undefined if a frame is too large. */
  push(piece: Buffer): Frame[] | undefined {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    // A large frame is joined once, not again with each of its pieces.
    if (this.#bytes < this.#wanted) return [];
    let rest = Buffer.concat(this.#pieces);
    const frames: Frame[] = [];
    for (this.#wanted = sizeOf(rest); rest.length >= this.#wanted; this.#wanted = sizeOf(rest)) {
      frames.push({ kind: rest.readUInt8(0), content: rest.subarray(HEADER_BYTES, this.#wanted) });
      rest = rest.subarray(this.#wanted);
    }
    this.#pieces = [rest];
    this.#bytes = rest.length;
    return this.#wanted > MAX_FRAME_BYTES ? undefined : frames;
  }
}

function sizeOf(bytes: Buffer): number {
  return bytes.length < HEADER_BYTES ? HEADER_BYTES : HEADER_BYTES + bytes.readUInt32BE(1);
}
