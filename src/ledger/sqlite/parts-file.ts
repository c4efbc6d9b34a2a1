import { createReadStream, rmSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DamagedParts, type PartsStore } from '../store.ts';

/**
 * Parts in a file beside the database, each after its length. Not in the database, where a large write would delay
 * commits and could not follow the end of the ledger. Written under another name first, so that the file is whole.
 */
export class PartsFile implements PartsStore {
  readonly #path: string;
  readonly #draft: string;

  constructor(path: string) {
    this.#path = path;
    this.#draft = `${path}.draft`;
  }

  async write(parts: AsyncIterable<Uint8Array>): Promise<void> {
    const draft = this.#draft;
    try {
      const file = await open(draft, 'w', 0o600);
      try {
        for await (const part of parts) await writeAll(file, [lengthOf(part), part]);
        await writeAll(file, [END]);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.#path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    // Without this, a power cut could undo the rename, which leaves the earlier file: also whole, and signed.
    const folder = await open(dirname(this.#path), 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  async read(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const found = await stat(this.#path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
    return found === undefined ? undefined : readParts(createReadStream(this.#path, { highWaterMark: CHUNK_BYTES }));
  }

  async drop(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async removeDraft(): Promise<void> {
    await rm(this.#draft, { force: true });
  }
}

async function writeAll(
  file: { writev(buffers: readonly Uint8Array[]): Promise<{ readonly bytesWritten: number }> },
  buffers: readonly Uint8Array[],
): Promise<void> {
  const size = buffers.reduce((sum, { length }) => sum + length, 0);
  const { bytesWritten } = await file.writev(buffers);
  if (bytesWritten !== size) throw new Error('the disk is full');
}

async function* readParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0);

  let hasEnded = false;
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= LENGTH_BYTES && !hasEnded) {
      const length = rest.readUInt32BE(0);
      if (length > MAX_PART_BYTES) throw new DamagedParts();
      const wanted = LENGTH_BYTES + length;
      if (rest.length < wanted) break;
      hasEnded = length === 0;
      if (!hasEnded) yield rest.subarray(LENGTH_BYTES, wanted);
      rest = rest.subarray(wanted);
    }
    if (hasEnded && rest.length > 0) throw new DamagedParts();
  }
  if (!hasEnded) throw new DamagedParts();
}

function lengthOf({ length }: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32BE(length);
  return bytes;
}

const LENGTH_BYTES = 4;
/** A length of zero ends the file, so that a shortened file is noticed. */
const END = Buffer.alloc(LENGTH_BYTES);
const CHUNK_BYTES = 1024 * 1024;
/** Far above a part that a daemon writes. */
const MAX_PART_BYTES = 256 * 1024 * 1024;
