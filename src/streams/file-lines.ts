import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** The complete lines in the first part of a file; empty if it cannot be read. */
export function readFirstLines(path: string, maxBytes = MAX_BYTES): readonly string[] {
  const { text } = readPart(path, () => 0, maxBytes);
  // The last line may be incomplete.
  return text.split('\n').slice(0, -1);
}

/** The complete lines in the last part of a file; empty if it cannot be read. */
export function readLastLines(path: string, maxBytes = MAX_BYTES): readonly string[] {
  const { text, start } = readPart(path, (size) => Math.max(0, size - maxBytes), maxBytes);
  // The first line may be cut, and the last one incomplete.
  return text.split('\n').slice(start > 0 ? 1 : 0, -1);
}

const MAX_BYTES = 256 * 1024;

function readPart(path: string, startOf: (size: number) => number, maxBytes: number): { text: string; start: number } {
  const read = readRegular(path, (file, size) => {
    const start = startOf(size);
    const bytes = Buffer.alloc(Math.min(maxBytes, size - start));
    return { text: bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, start)), start };
  });
  return read ?? { text: '', start: 0 };
}

/**
 * Reads a regular file; undefined if that fails. An agent can choose or create the path, and a pipe must not block the
 * supervisor.
 */
export function readRegular<T>(path: string, read: (file: number, size: number) => T): T | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    return stat.isFile() ? read(file, stat.size) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Follows a growing file. Reads at most `maxBytes` of the added text; older lines are skipped. */
export class FollowedFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #offset = 0;

  constructor(path: string, maxBytes = MAX_ADDED_BYTES) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  /** The complete lines added since the last call; empty if the file cannot be read. */
  readNew(): readonly string[] {
    const { bytes, start } = this.#readBytes();
    const end = bytes.lastIndexOf(10) + 1;
    if (end === 0) return [];
    const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
    // After a skip the first line is cut.
    const isCut = start > this.#offset;
    this.#offset = start + end;
    return isCut ? lines.slice(1) : lines;
  }

  #readBytes(): { readonly bytes: Buffer; readonly start: number } {
    const read = readRegular(this.#path, (file, size) => {
      if (size < this.#offset) this.#offset = 0;
      const start = Math.max(this.#offset, size - this.#maxBytes);
      const bytes = Buffer.alloc(size - start);
      return { bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start)), start };
    });
    return read ?? NO_LINES;
  }
}

const NO_LINES = { bytes: Buffer.alloc(0), start: 0 } as const;

/**
 * The JSON lines files below a folder. The number is limited, because the path comes from a hook that an agent can call
 * with any folder.
 */
export function filesBelow(folder: string, levels = LEVELS): readonly string[] {
  if (levels === 0) return [];
  try {
    const found = readdirSync(folder, { withFileTypes: true }).slice(0, MOST_FILES);
    const files = found.filter((each) => each.isFile() && each.name.endsWith('.jsonl'));
    const folders = found.filter((each) => each.isDirectory());
    const here = files.map(({ name }) => join(folder, name));
    return [...here, ...folders.flatMap(({ name }) => filesBelow(join(folder, name), levels - 1))].slice(0, MOST_FILES);
  } catch {
    return [];
  }
}

/**
 * The depth of subagents' files: `CONVERSATION/subagents/ID.jsonl` for Claude Code, `CONVERSATION/ID.jsonl` for Gemini
 * CLI.
 */
const LEVELS = 2;
const MOST_FILES = 500;

const MAX_ADDED_BYTES = 4 * 1024 * 1024;
