import type { Parsed } from '../../protocol/shape/problem.ts';
import type { Verifier } from '../format/crypto.ts';
import { LEDGER_LIMITS, refuse } from '../format/limits.ts';
import { type VerifiedExport, verifyExport } from './export.ts';
import { type ProvenTask, verifyTaskProof } from './task-proof.ts';

export type VerifiedFile =
  | ({ readonly kind: 'task proof' } & ProvenTask)
  | ({ readonly kind: 'export' } & VerifiedExport);

/** Checks the bytes of a task proof or of an export, which may be larger than memory. */
export async function verifyFile(
  verifier: Verifier,
  pieces: AsyncIterable<Uint8Array>,
  knownKey?: string,
): Promise<Parsed<VerifiedFile>> {
  try {
    const texts = decode(pieces);
    const start = await readStart(texts);
    if (start.startsWith(EXPORT_START)) {
      const checked = await verifyExport(verifier, linesOf(start, texts), knownKey);
      return checked.ok ? { ok: true, value: { kind: 'export', ...checked.value } } : checked;
    }
    const proven = await verifyTaskProof(verifier, await readAll(start, texts), knownKey);
    return proven.ok ? { ok: true, value: { kind: 'task proof', ...proven.value } } : proven;
  } catch (error) {
    if (error instanceof NotReadable) return refuse('ledger/bad-proof', error.message, 'Create it again.');
    throw error;
  }
}

const EXPORT_START = '{"entry":';

class NotReadable extends Error {}

/** Bytes that are not UTF-8 are refused: a decoder would replace different bytes by the same character. */
async function* decode(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const read = (piece?: Uint8Array): string => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch {
      throw new NotReadable('the file is not text in UTF-8');
    }
  };
  for await (const piece of pieces) yield read(piece);
  yield read();
}

async function readStart(texts: AsyncGenerator<string, undefined>): Promise<string> {
  let start = '';
  while (start.length < EXPORT_START.length) {
    const { done, value } = await texts.next();
    if (done === true) break;
    start += value;
  }
  return start;
}

async function* linesOf(start: string, texts: AsyncIterable<string>): AsyncGenerator<string> {
  const [first, ...more] = splitLines('', start);
  yield* more;
  let rest = first;
  for await (const text of texts) {
    const [last, ...lines] = splitLines(rest, text);
    yield* lines;
    rest = last;
    if (rest.length > LEDGER_LIMITS.proofBytes) throw new NotReadable('a line of the file is too long');
  }
  if (rest !== '') yield rest;
}

/** Returns the unfinished line, then the finished ones. Searches only the new text: a line may have many pieces. */
function splitLines(rest: string, text: string): [string, ...string[]] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  if (lines.length === 0) return [rest + last];
  lines[0] = rest + (lines[0] ?? '');
  return [last, ...lines];
}

async function readAll(start: string, texts: AsyncIterable<string>): Promise<string> {
  const parts = [start];
  let length = start.length;
  for await (const text of texts) {
    parts.push(text);
    length += text.length;
    if (length > LEDGER_LIMITS.proofBytes) throw new NotReadable('this is neither a task proof nor an export');
  }
  return parts.join('');
}
