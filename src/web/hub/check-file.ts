import { toHex } from '../../ledger/format/bytes.ts';
import type { Verifier } from '../../ledger/format/crypto.ts';
import type { Completeness } from '../../ledger/verify/completeness.ts';
import { type VerifiedFile, verifyFile } from '../../ledger/verify/verify-file.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { Slices, type TakeTurn } from '../model/ledger/ledger-parts.ts';

/** The result of checking a file: what it proves, or its first fault. */
export type CheckedFile =
  | {
      readonly ok: true;
      readonly kind: 'task proof' | 'export';
      readonly project: string;
      readonly taskId?: string;
      readonly entries: number;
      /** The size of the signed ledger. */
      readonly size: number;
      readonly root?: string;
      /** The keys that signed the file. The proof is valid only for a reader who knows them from another source. */
      readonly keys: readonly string[];
      /** Of a task proof: null if it is from before entries had numbers within tasks. */
      readonly complete?: Completeness | null;
    }
  | { readonly ok: false; readonly problem: Pick<Problem, 'code' | 'message' | 'hint'> };

export interface CheckFileOptions {
  readonly verifier: Verifier;
  readonly turn: TakeTurn;
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number, of: number) => void;
}

/**
 * Checks a task proof or an export, as `baton verify` does. An export may be larger than memory, and may be compressed
 * with gzip.
 */
export async function checkFile(file: Blob, options: CheckFileOptions): Promise<CheckedFile> {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isPacked = start[0] === 0x1f && start[1] === 0x8b;
  const pieces = count(file, options);
  try {
    const checked = await verifyFile(options.verifier, inTurns(isPacked ? unpack(pieces) : pieces, options));
    return checked.ok ? describe(checked.value) : fault(checked.problems[0]);
  } catch (error) {
    if (options.signal?.aborted === true)
      return fault({ code: 'stopped', message: 'the check was stopped', hint: 'Choose the file again.' });
    const what = error instanceof Error ? error.message : String(error);
    const message = `the file cannot be read: ${what}`;
    return fault({ code: 'unreadable-file', message, hint: 'Choose the file again.' });
  }
}

function count(file: Blob, { onProgress }: CheckFileOptions): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, out) {
      bytes += piece.length;
      onProgress?.(bytes, file.size);
      out.enqueue(piece);
    },
  });
  return file.stream().pipeThrough(counted);
}

function unpack(pieces: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return pieces.pipeThrough(new DecompressionStream('gzip'));
}

/** A piece of a stream is small, so that checking its lines blocks the thread only briefly. */
async function* inTurns(
  pieces: ReadableStream<Uint8Array<ArrayBuffer>>,
  { turn, signal }: CheckFileOptions,
): AsyncGenerator<Uint8Array> {
  const slices = new Slices(turn);
  const reader = pieces.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
      signal?.throwIfAborted();
      if (slices.isOver) await slices.pause();
    }
  } finally {
    await reader.cancel();
  }
}

function describe(file: VerifiedFile): CheckedFile {
  const { kind, project, size } = file;
  if (kind === 'export')
    return { ok: true, kind, project, entries: size, size, root: toHex(file.root), keys: file.keys };
  const { taskId, entries, key, complete = null, root } = file;
  return { ok: true, kind, project, taskId, entries: entries.length, size, keys: [key], root: toHex(root), complete };
}

function fault(problem: Pick<Problem, 'code' | 'message' | 'hint'>): CheckedFile {
  const { code, message, hint } = problem;
  return { ok: false, problem: { code, message, hint } };
}
