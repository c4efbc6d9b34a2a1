import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { redactTokens } from '../../protocol/redact-tokens.ts';
import { stripTerminalCodes } from '../../protocol/text/terminal-codes.ts';

/**
 * A process's output in one file of limited size: the beginning and the end are kept, and a line between them states
 * how much was cut. A cut copies a quarter of the file, at most once per half of it. Writes are synchronous: a process
 * that floods its output waits for the disk, and no memory is used for buffers.
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
      // A full disk must not stop the agent: this output is lost, but its exit is still reported.
    }
  }

  /** Writes a line that marks the start of another process of the same agent. */
  markStart(start: number, at: string): void {
    const last = Buffer.alloc(1);
    const isInLine = this.#size > 0 && readSync(this.#file, last, 0, 1, this.#size - 1) === 1 && last[0] !== LINE_BREAK;
    this.write(Buffer.from(`${isInLine ? '\n' : ''}[baton: process ${start} starts here, ${at}]\n`));
  }

  close(): void {
    closeSync(this.#file);
  }

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

  /** The number of bytes cut earlier at this place, and the length of the line that states it. */
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

const LINE_BREAK = 10;
const OPEN = '\n[baton: ';
const CLOSE = ' bytes of output were cut here]\n';
const MARK = /^\n\[baton: (\d+) bytes of output were cut here\]\n/;

/**
 * Removes tokens from output. The end of a piece that may begin a token waits for the next piece. Bytes are read as
 * Latin-1, which preserves them.
 */
export class TokenFilter {
  readonly #known: readonly string[];
  readonly #write: (chunk: Uint8Array) => void;
  #held = '';
  /** The end of the output written so far, because an escape sequence before a token marks the start of a word. */
  #before = '';

  /** `known`: secrets that are removed wherever they occur. */
  constructor(known: readonly string[], write: (chunk: Uint8Array) => void) {
    this.#known = known;
    this.#write = write;
  }

  push(chunk: Buffer): void {
    const text = this.#held + chunk.toString('latin1');
    const until = heldFrom(text);
    this.#held = text.slice(until);
    this.#pass(text.slice(0, until));
  }

  end(): void {
    this.#pass(this.#held);
    this.#held = '';
  }

  #pass(text: string): void {
    if (text === '') return;
    const clean = redactTokens(this.#before + text, this.#known);
    const isAfter = clean.startsWith(this.#before);
    const kept = isAfter ? clean.slice(this.#before.length) : redactTokens(text, this.#known);
    this.#before = (this.#before + text).slice(-CONTEXT);
    this.#write(Buffer.from(kept, 'latin1'));
  }
}

/** The longest escape sequence is a colour. */
const CONTEXT = 20;
/** Longer than any token: text of this length need not wait for the next piece. */
const LONGEST = 4608;

/** The start of the last run of token characters, or the end of the text if no token can begin there. */
function heldFrom(text: string): number {
  const least = Math.max(0, text.length - LONGEST);
  let from = text.length;
  while (from > least && TOKEN_CODES.has(text.charCodeAt(from - 1))) from -= 1;
  if (from === text.length || (from === least && least > 0)) return text.length;
  return MAY_BEGIN.test(text.slice(from)) ? from : text.length;
}

/** A token's first letter with its dot, or the beginning of an encoded dot. */
const MAY_BEGIN = /[mosavw](?:\.|%2[Ee]|\\u002[Ee]|%2?$|\\(?:u0{0,2}2?)?$|$)/;
/** Letters, digits, `-`, `_`, and the characters of an encoded dot. */
const TOKEN_CODES = new Set(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.%\\'));

/** Keeps the end of a stream in a fixed amount of memory. */
export class Tail {
  readonly #limit: number;
  #kept: Buffer = Buffer.alloc(0);

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  push(chunk: Uint8Array): void {
    const fresh = chunk.subarray(-this.#limit);
    const from = Math.max(this.#kept.length + fresh.length - this.#limit, 0);
    // Copies the bytes, so that the large buffer of the piece can be freed.
    this.#kept = Buffer.concat([this.#kept.subarray(from), fresh]);
  }

  /** The text without terminal control sequences; null if there was no output. */
  text(): string | null {
    const text = stripTerminalCodes(this.#kept.toString('utf8')).replaceAll('\r\n', '\n').replaceAll(CONTROL, '');
    return text.trim() || null;
  }
}

// oxlint-disable no-control-regex
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

const MIN_BYTES = 4096;
