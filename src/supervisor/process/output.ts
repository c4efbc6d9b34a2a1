import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from 'node:fs';

/**
 * Everything a process prints, in one file that never grows beyond its cap: the beginning and the end stay, and a line between them
 * says how much was cut. A cut copies a quarter of the file at most once every half of it, and needs no memory to speak of. Writing is
 * synchronous: a process that floods us waits for the disk, and we hold nothing.
 */
export class OutputLog {
  readonly #path: string;
  readonly #cap: number;
  #file: number;
  #size: number;

  constructor(path: string, capBytes: number) {
    this.#path = path;
    this.#cap = Math.max(capBytes, MIN_BYTES);
    this.#file = openSync(path, 'a+', 0o600);
    this.#size = fstatSync(this.#file).size;
  }

  write(chunk: Uint8Array): void {
    try {
      for (let at = 0; at < chunk.length;) {
        if (this.#size >= this.#cap) this.#cut();
        const piece = chunk.subarray(at, at + Math.max(this.#cap - this.#size, 1));
        const written = writeSync(this.#file, piece);
        this.#size += written;
        at += written;
      }
    } catch {
      // A full disk must not stop the agent: what cannot be kept is lost, and the end of it is reported all the same.
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Into a file of its own that then takes the name: whoever reads sees the old one or the new one. */
  #cut(): void {
    const head = Math.floor(this.#cap / 4);
    const before = this.#cutBefore(head);
    const tailFrom = this.#size - head;
    const cut = before.bytes + tailFrom - head - before.markLength;
    const draft = `${this.#path}.draft`;
    const target = openSync(draft, 'w+', 0o600);
    try {
      this.#copy(target, 0, head);
      writeSync(target, `${OPEN}${cut}${CLOSE}`);
      this.#copy(target, tailFrom, this.#size);
      renameSync(draft, this.#path);
    } catch (error) {
      closeSync(target);
      ftruncateSync(this.#file, 0);
      this.#size = 0;
      throw error;
    }
    closeSync(this.#file);
    this.#file = target;
    this.#size = fstatSync(target).size;
  }

  /** What was cut at this place already, and how long the line is that says so. */
  #cutBefore(head: number): { readonly bytes: number; readonly markLength: number } {
    const buffer = Buffer.alloc(OPEN.length + CLOSE.length + 16);
    readSync(this.#file, buffer, 0, buffer.length, head);
    const mark = MARK.exec(buffer.toString('latin1'));
    return { bytes: Number(mark?.[1] ?? 0), markLength: mark?.[0].length ?? 0 };
  }

  #copy(target: number, from: number, to: number): void {
    const buffer = Buffer.allocUnsafe(65_536);
    for (let at = from; at < to;) {
      const read = readSync(this.#file, buffer, 0, Math.min(buffer.length, to - at), at);
      if (read === 0) return;
      for (let written = 0; written < read;) written += writeSync(target, buffer, written, read - written);
      at += read;
    }
  }
}

const MIN_BYTES = 4096;
const OPEN = '\n[baton: ';
const CLOSE = ' bytes of output were cut here]\n';
const MARK = /^\n\[baton: (\d+) bytes of output were cut here\]\n/;
