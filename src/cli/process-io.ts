import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { Io } from './command.ts';

/**
 * The real world. Writing goes straight to the file descriptor: Node's stream for standard output costs more than a whole
 * short command, and what was written is out when the process ends.
 */
export function processIo(): Io {
  return {
    env: process.env,
    cwd: process.cwd(),
    isTerminal: isatty(1),
    out: (text) => writeAll(1, text),
    err: (text) => writeAll(2, text),
    readInput: readAll,
  };
}

/** Twice the largest message there is. */
export const MAX_INPUT_BYTES = 8_388_608;

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(fd, bytes, written);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // A reader that went away (`| head`) wants no more, and that is no failure of ours. What follows the ledger would else go on.
      if (code === 'EPIPE') process.exit(0);
      // A full pipe that does not block: wait a moment and go on.
      if (code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

async function readAll(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    // More than any message may have: whoever gets it says so, and nobody reads for ever.
    if (size > MAX_INPUT_BYTES) break;
  }
  return Buffer.concat(chunks);
}
