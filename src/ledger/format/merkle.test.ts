import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSha256 } from '../writer/keys.ts';
import { toHex } from './bytes.ts';
import { Frontier, leafHash } from './merkle.ts';
import { makeTree, naiveRoot } from './tree.cases.ts';

describe('the frontier', () => {
  it('has the root of RFC 6962 at every size', () => {
    const leaves = Array.from({ length: 70 }, (_, i) => leafHash(nodeSha256, Uint8Array.of(i)));
    const frontier = new Frontier(nodeSha256);
    expect(toHex(frontier.root())).toBe(toHex(naiveRoot([])));
    for (const [i, leaf] of leaves.entries()) {
      frontier.add(leaf);
      expect(toHex(frontier.root())).toBe(toHex(naiveRoot(leaves.slice(0, i + 1))));
    }
  });

  it('returns tiles when 256 entries are complete', () => {
    const frontier = new Frontier(nodeSha256);
    const leaves = Array.from({ length: 513 }, (_, i) => leafHash(nodeSha256, Uint8Array.of(i % 256)));
    const tiles = leaves.flatMap((leaf) => frontier.add(leaf));
    expect(tiles.map(({ level, index }) => ({ level, index }))).toEqual([
      { level: 8, index: 0 },
      { level: 8, index: 1 },
    ]);
    expect(toHex(tiles[1]?.hash ?? new Uint8Array(0))).toBe(toHex(naiveRoot(leaves.slice(256, 512))));
  });

  it('is copied without sharing', () => {
    const frontier = new Frontier(nodeSha256);
    frontier.add(nodeSha256(new Uint8Array(1)));
    const before = toHex(frontier.root());
    frontier.copy().add(nodeSha256(new Uint8Array(2)));
    expect(toHex(frontier.root())).toBe(before);
    expect(frontier.size).toBe(1);
  });

  it('can be read back from a store at any size', async () => {
    const { tree, leaves } = await makeTree(3_000);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 3_000 }), async (size) => {
        const frontier = await tree.findFrontier(size);
        expect(frontier?.size).toBe(size);
        expect(toHex(frontier?.root() ?? new Uint8Array(0))).toBe(toHex(naiveRoot(leaves.slice(0, size))));
      }),
      { numRuns: 30 },
    );
    expect(await tree.findFrontier(3_001)).toBeUndefined();
  });
});
