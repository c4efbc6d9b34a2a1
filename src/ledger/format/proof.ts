import type { Sha256 } from './crypto.ts';
import { sameBytes } from './bytes.ts';
import { nodeHash } from './merkle.ts';

/** A tree as a checkpoint states it. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Is this leaf at this index (from 0) of the tree? RFC 9162, 2.1.3.2; sizes stay numbers, since 2⁵³ entries are enough. */
export function verifyInclusion(
  sha256: Sha256,
  leaf: Uint8Array,
  index: number,
  tree: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isIndex(index) || !isIndex(tree.size) || index >= tree.size) return false;
  if (![leaf, ...proof].every(isHash)) return false;
  let fn = index;
  let sn = tree.size - 1;
  let root = leaf;
  for (const sibling of proof) {
    if (sn === 0) return false;
    if (isOdd(fn) || fn === sn) {
      root = nodeHash(sha256, sibling, root);
      while (!isOdd(fn) && fn !== 0) {
        fn = half(fn);
        sn = half(sn);
      }
    } else {
      root = nodeHash(sha256, root, sibling);
    }
    fn = half(fn);
    sn = half(sn);
  }
  return sn === 0 && sameBytes(root, tree.root);
}

/** Is the first tree a prefix of the second? RFC 9162, 2.1.4.2. A tree of no entries is no statement, so it is refused. */
export function verifyConsistency(
  sha256: Sha256,
  first: TreeHead,
  second: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isIndex(first.size) || !isIndex(second.size) || first.size === 0 || first.size > second.size) {
    return false;
  }
  if (first.size === second.size) return proof.length === 0 && sameBytes(first.root, second.root);
  let fn = first.size - 1;
  let sn = second.size - 1;
  while (isOdd(fn)) {
    fn = half(fn);
    sn = half(sn);
  }
  // Where the first tree is complete (its size a power of two), its root starts the path by itself.
  const [start, ...rest] = fn === 0 ? [first.root, ...proof] : proof;
  if (!start || ![start, ...rest].every(isHash)) return false;
  let firstRoot = start;
  let secondRoot = start;
  for (const sibling of rest) {
    if (sn === 0) return false;
    if (isOdd(fn) || fn === sn) {
      firstRoot = nodeHash(sha256, sibling, firstRoot);
      secondRoot = nodeHash(sha256, sibling, secondRoot);
      while (!isOdd(fn) && fn !== 0) {
        fn = half(fn);
        sn = half(sn);
      }
    } else {
      secondRoot = nodeHash(sha256, secondRoot, sibling);
    }
    fn = half(fn);
    sn = half(sn);
  }
  return sn === 0 && sameBytes(firstRoot, first.root) && sameBytes(secondRoot, second.root);
}

function isIndex(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isHash(bytes: Uint8Array): boolean {
  return bytes.length === 32;
}

function isOdd(value: number): boolean {
  return value % 2 === 1;
}

function half(value: number): number {
  return Math.floor(value / 2);
}
