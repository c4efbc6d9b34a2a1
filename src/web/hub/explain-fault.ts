import { toHex } from '../../ledger/format/bytes.ts';
import { canonicalJson } from '../../ledger/format/canonical-json.ts';
import { webVerifier } from '../../ledger/format/crypto.ts';
import { leafHash } from '../../ledger/format/merkle.ts';
import type { LedgerFault } from '../../ledger/verify/walk.ts';
import { fieldOf, fieldsInJson, textOf } from '../../protocol/shape/read-unknown.ts';
import type { BrokenChain } from './messages.ts';

/** A position that this browser has verified, and when. */
export interface Witness {
  readonly size: number;
  readonly hash: string;
  readonly at: number;
}

/** Returns the hash at the end of an export's line; empty if there is none. */
export function hashInLine(line: string): string {
  return /"hash":"([0-9a-f]{64})"\}$/.exec(line)?.[1] ?? textOf(fieldsInJson(line)['hash']);
}

/** Describes a fault with the line that has it, and the position before that line. */
export function explainFault(
  { seq, problem: { code, message } }: LedgerFault,
  before?: { readonly size: number; readonly hash: string },
  line?: string,
): BrokenChain {
  const difference = before === undefined || line === undefined ? undefined : findDifference(before, line);
  // A ledger can be too short only if it was longer before.
  const isRewritten = code === 'ledger/rolled-back' ? { isRewritten: true } : {};
  return { seq: seq ?? before?.size ?? 1, code, message, ...difference, ...isRewritten };
}

interface Difference {
  readonly expected: string;
  readonly found: string;
}

const encoder = new TextEncoder();

function findDifference(
  { size, hash }: { readonly size: number; readonly hash: string },
  line: string,
): Difference | undefined {
  const { entry, hash: recorded } = fieldsInJson(line);
  const [seq, prev] = [fieldOf(entry, 'seq'), fieldOf(entry, 'prev')];
  if (entry === undefined) return undefined;
  if (seq !== size + 1) return { expected: `entry ${size + 1}`, found: `entry ${String(seq)}` };
  const text = canonicalJson(entry);
  const own = text.ok ? toHex(leafHash(webVerifier.sha256, encoder.encode(text.value))) : 'no hash';
  if (own !== recorded) return { expected: `hash ${textOf(recorded)}`, found: `hash ${own}` };
  if (size > 0 && prev !== hash) return { expected: `previous hash ${hash}`, found: `previous hash ${textOf(prev)}` };
  return undefined;
}

/** The fault of a ledger that has another entry at a position which this browser has verified. */
export function rewritten({ size, hash, at }: Witness, found: string): BrokenChain {
  return {
    seq: size,
    code: 'ledger/forked',
    message: `entry ${size} is not the one that this browser verified${when(at)}: history was rewritten`,
    expected: `hash ${hash}`,
    found: found === '' ? 'no hash' : `hash ${found}`,
    isRewritten: true,
  };
}

/** The fault of a ledger that ends before the position which this browser has verified. */
export function gone({ size, hash, at }: Witness, end?: number): BrokenChain {
  return {
    seq: end === undefined ? size : end + 1,
    code: 'ledger/rolled-back',
    message: `this browser verified ${size} entries${when(at)}, and the ledger now ends before entry ${end === undefined ? size : end + 1}: entries were removed`,
    expected: `entry ${size} with hash ${hash}`,
    found: 'no such entry',
    isRewritten: true,
  };
}

function when(at: number): string {
  return at > 0 ? ` on ${new Date(at).toISOString().slice(0, 16).replace('T', ' at ')} UTC` : '';
}
