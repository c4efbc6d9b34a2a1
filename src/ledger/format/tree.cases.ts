import { MemoryStore } from '../memory-store.ts';
import type { Tile } from '../store.ts';
import { nodeSha256 } from '../writer/keys.ts';
import { GENESIS } from './chain.ts';
import { Frontier, leafHash, nodeHash } from './merkle.ts';
import { Tree } from './tree.ts';

/** A tree of `size` generated entries, as a store keeps it. */
export async function makeTree(size: number): Promise<{ tree: Tree; leaves: Uint8Array[] }> {
  const store = new MemoryStore();
  const frontier = new Frontier(nodeSha256);
  const tiles: Tile[] = [];
  const entries = Array.from({ length: size }, (_, i) => {
    const bytes = new TextEncoder().encode(`entry ${i}`);
    const hash = leafHash(nodeSha256, bytes);
    tiles.push(...frontier.add(hash));
    return { seq: i + 1, hash, bytes };
  });
  const [first, ...rest] = entries;
  if (!first) throw new Error('a tree for tests has at least one entry');
  await store.append({ after: GENESIS, entries: [first, ...rest], tiles, checkpoint: { size, note: '' } });
  return { tree: new Tree(store, nodeSha256, size), leaves: entries.map(({ hash }) => hash) };
}

/** The root exactly as RFC 6962, 2.1 defines it, without optimisation. */
export function naiveRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (leaves.length === 0) return nodeSha256(new Uint8Array(0));
  if (only && leaves.length === 1) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return nodeHash(nodeSha256, naiveRoot(leaves.slice(0, split)), naiveRoot(leaves.slice(split)));
}
