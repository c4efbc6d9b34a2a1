/** The last words of a stream, in a fixed amount of memory. */
export class Tail {
  readonly #limit: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  push(chunk: Uint8Array): void {
    const fresh = chunk.subarray(-this.#limit);
    const from = Math.max(this.#kept.length + fresh.length - this.#limit, 0);
    // A copy: the buffer that a piece came in can go.
    this.#kept = Buffer.concat([this.#kept.subarray(from), fresh]);
  }

  /** As text without what controls a terminal; null where nothing was said. */
  text(): string | null {
    const text = stripControls(this.#kept.toString('utf8')).trim();
    return text === '' ? null : text;
  }
}

/** Without escape sequences, and without control characters but tabs and line ends. */
export function stripControls(text: string): string {
  return text.replaceAll(SEQUENCE, '').replaceAll('\r\n', '\n').replaceAll(CONTROL, '');
}

// oxlint-disable no-control-regex
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])/g;
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;
