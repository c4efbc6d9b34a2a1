import type { Tile } from '../store.ts';
import { sameBytes } from './bytes.ts';
import type { Sha256 } from './crypto.ts';
import { LEDGER_LIMITS } from './limits.ts';

/**
 * The store keeps roots of subtrees of 256, 256², 256³ … leaves, so that neither a proof nor a start rebuilds the tree.
 */
export const TILE_HEIGHT = 8;

/** RFC 6962, 2.1: the root of an empty tree is the hash of no bytes. */
export function emptyRoot(sha256: Sha256): Uint8Array {
  return sha256(new Uint8Array(0));
}

/** The hash of an entry: its link in the chain and its leaf in the tree (RFC 6962: 0x00 before a leaf). */
export function leafHash(sha256: Sha256, bytes: Uint8Array): Uint8Array {
  const leaf = bytes.length < scratch.length ? scratch : new Uint8Array(bytes.length + 1);
  leaf.set(bytes, 1);
  return sha256(leaf.subarray(0, bytes.length + 1));
}

/** Reused for every entry; the first byte is always 0x00. */
const scratch = new Uint8Array(LEDGER_LIMITS.entryBytes + 1);
const pair = new Uint8Array(65);
pair[0] = 1;

/** The hash of two subtrees; the prefix 0x01 keeps a node from passing as a leaf. */
export function nodeHash(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  pair.set(left, 1);
  pair.set(right, 33);
  return sha256(pair);
}

/** The right edge of a growing tree: at most 53 roots of complete subtrees, largest first. */
export class Frontier {
  readonly #sha256: Sha256;
  #size = 0;
  #subtrees: Uint8Array[] = [];

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  get size(): number {
    return this.#size;
  }

  /** The subtree roots, largest first; with the size they are the whole frontier. */
  get subtrees(): readonly Uint8Array[] {
    return this.#subtrees;
  }

  /** A copy for building a commit: the original advances only after the store accepted it. */
  copy(): Frontier {
    const copy = new Frontier(this.#sha256);
    copy.#size = this.#size;
    copy.#subtrees = [...this.#subtrees];
    return copy;
  }

  /** Adds a leaf and returns the tiles that it completes, usually none. */
  add(leaf: Uint8Array): readonly Tile[] {
    return this.addSubtree(0, leaf);
  }

  /** Adds a complete subtree of 2^level leaves; the size so far must be a multiple of that. */
  addSubtree(level: number, hash: Uint8Array): readonly Tile[] {
    let tiles: Tile[] = NO_TILES;
    let root = hash;
    let height = level;
    // The number of subtrees of this height to the left. If it is odd, the last one has no partner yet.
    let before = this.#size / 2 ** level;
    this.#size += 2 ** level;
    for (let left = this.#last(before); left; left = this.#last(before)) {
      root = nodeHash(this.#sha256, left, root);
      height += 1;
      before = (before - 1) / 2;
      if (height % TILE_HEIGHT === 0) {
        if (tiles === NO_TILES) tiles = [];
        tiles.push({ level: height, index: before, hash: root });
      }
    }
    this.#subtrees.push(root);
    return tiles;
  }

  #last(before: number): Uint8Array | undefined {
    return before % 2 === 1 ? this.#subtrees.pop() : undefined;
  }

  root(): Uint8Array {
    if (this.#size === 0) return emptyRoot(this.#sha256);
    return this.#subtrees.reduceRight((right, left) => nodeHash(this.#sha256, left, right));
  }
}

const NO_TILES: Tile[] = [];

/** The level of the largest complete subtree that starts at `start` and ends at or before `end`. */
export function subtreeLevel(start: number, end: number): number {
  let level = 0;
  while (start % 2 ** (level + 1) === 0 && start + 2 ** (level + 1) <= end) level += 1;
  return level;
}

export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Checks that the leaf is at this index (from 0) of the tree: RFC 9162, 2.1.3.2. */
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

/** Checks that the first tree is a prefix of the second: RFC 9162, 2.1.4.2. Refuses an empty first tree. */
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
  // If the size of the first tree is a power of two, its root starts the path.
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
