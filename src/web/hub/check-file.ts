import { toHex } from '../../ledger/format/bytes.ts';
import { parseCheckpoint } from '../../ledger/format/checkpoint.ts';
import type { Verifier } from '../../ledger/format/crypto.ts';
import { LEDGER_LIMITS } from '../../ledger/format/limits.ts';
import { verifyExport } from '../../ledger/verify/export.ts';
import { verifyTaskProof } from '../../ledger/verify/task-proof.ts';
import type { Parsed, Problem } from '../../protocol/shape/problem.ts';
import { fieldOf, textOf } from '../../protocol/shape/read-unknown.ts';
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
  const texts = (isPacked ? unpack(pieces) : pieces).pipeThrough(new TextDecoderStream());
  const lines = linesOf(texts, options);
  try {
    const first = await lines.next();
    const line = first.done === true ? '' : first.value;
    if (/^\{"(?:entry|checkpoint)":/.test(line)) return await checkExport(prepend(line, lines), options.verifier);
    return await checkProof(line, lines, options.verifier);
  } catch (error) {
    if (options.signal?.aborted === true) return fault('stopped', 'the check was stopped', 'Choose the file again.');
    const what = error instanceof Error ? error.message : String(error);
    return fault('unreadable-file', `the file cannot be read: ${what}`, 'Choose the file again.');
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

async function* linesOf(
  texts: ReadableStream<string>,
  { turn, signal }: CheckFileOptions,
): AsyncGenerator<string, undefined> {
  const slices = new Slices(turn);
  const reader = texts.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      // Only the new piece is searched, because a line may consist of many pieces.
      const lines = value.split('\n');
      const last = lines.pop() ?? '';
      if (lines.length > 0) lines[0] = rest + lines[0];
      rest = lines.length > 0 ? last : rest + last;
      if (rest.length > LEDGER_LIMITS.proofBytes) throw new Error('a line is too long');
      for (const line of lines) {
        yield line;
        signal?.throwIfAborted();
        if (slices.isOver) await slices.pause();
      }
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel();
  }
}

async function* prepend(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

async function checkExport(lines: AsyncIterable<string>, verifier: Verifier): Promise<CheckedFile> {
  const checked = await verifyExport(verifier, lines);
  if (!checked.ok) return refused(checked);
  const { project, size, root, keys } = checked.value;
  return { ok: true, kind: 'export', project, entries: size, size, root: toHex(root), keys };
}

/** Checks a proof, which is one JSON value. Another program may have formatted it over several lines. */
async function checkProof(first: string, rest: AsyncIterable<string>, verifier: Verifier): Promise<CheckedFile> {
  let text = first;
  for await (const line of rest) {
    text += `\n${line}`;
    if (text.length > LEDGER_LIMITS.proofBytes) return notAProof();
  }
  const value = parse(text);
  if (value === undefined) return notAProof();
  const proven = await verifyTaskProof(verifier, value);
  if (!proven.ok) return refused(proven);
  const { project, taskId, entries, size, key } = proven.value;
  const tree = parseCheckpoint(textOf(fieldOf(value, 'checkpoint')));
  return {
    ok: true,
    kind: 'task proof',
    project,
    taskId,
    entries: entries.length,
    size,
    keys: [key],
    ...(tree.ok ? { root: toHex(tree.value.root) } : {}),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notAProof(): CheckedFile {
  return fault('ledger/bad-proof', 'this is neither a task proof nor an export', 'Create it again.');
}

function refused(parsed: Extract<Parsed<never>, { ok: false }>): CheckedFile {
  const [{ code, message, hint }] = parsed.problems;
  return fault(code, message, hint);
}

function fault(code: string, message: string, hint: string): CheckedFile {
  return { ok: false, problem: { code, message, hint } };
}
