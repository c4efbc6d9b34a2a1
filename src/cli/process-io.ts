import { fstatSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Io } from './command.ts';

/**
 * Writes directly to the file descriptor: Node's streams cost more than a short command, and may lose output at exit.
 */
export function processIo(): Io {
  return {
    env: process.env,
    cwd: findCwd(),
    isTerminal: isatty(1),
    out: (text) => writeAll(1, text),
    err: (text) => writeAll(2, text),
    readInput: readAll,
  };
}

/** A deleted working folder still has the name that the shell gave it: the error then names it. */
function findCwd(): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/';
  }
}

/** Twice the size limit of the largest message. */
const MAX_INPUT_BYTES = 8_388_608;

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // The reader, such as `| head`, has closed the pipe. This counts as success. Without it, a command that follows
      // the ledger would never end.
      if (code === 'EPIPE') process.exit(0);
      // A non-blocking pipe is full.
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

async function readAll(): Promise<Uint8Array> {
  // Node takes a folder for an empty input.
  if (fstatSync(0).isDirectory()) throw new Error('standard input is a folder');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    // Too large for any message, so the parser refuses it.
    if (size > MAX_INPUT_BYTES) break;
  }
  return Buffer.concat(chunks);
}
