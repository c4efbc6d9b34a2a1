import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSha256 } from '../writer/keys.ts';
import { verifyConsistency, verifyInclusion } from './merkle.ts';
import { makeTree, naiveRoot } from './tree.cases.ts';

interface Vector {
  readonly name: string;
  readonly leafIdx: number;
  readonly treeSize: number;
  readonly size1: number;
  readonly size2: number;
  readonly root: string;
  readonly root1: string;
  readonly root2: string;
  readonly leafHash: string;
  readonly proof: readonly string[] | null;
  readonly wantErr?: boolean;
}

const inclusion = readVectors('inclusion');
const consistency = readVectors('consistency');

describe('the public vectors', () => {
  it('are all there', () => {
    expect([inclusion.length, consistency.length]).toEqual([98, 98]);
  });

  it('of inclusion hold', () => {
    const wrong = inclusion.filter(
      ({ leafHash, leafIdx, treeSize, root, proof, wantErr = false }) =>
        verifyInclusion(nodeSha256, bytes(leafHash), leafIdx, { size: treeSize, root: bytes(root) }, list(proof)) ===
        wantErr,
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  it('of consistency hold', () => {
    const wrong = consistency.filter(
      ({ size1, size2, root1, root2, proof, wantErr = false }) =>
        verifyConsistency(
          nodeSha256,
          { size: size1, root: bytes(root1) },
          { size: size2, root: bytes(root2) },
          list(proof),
        ) === wantErr,
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});

describe('proofs made of a stored tree', () => {
  it('hold for every entry and every pair of sizes of a small ledger', async () => {
    const { tree, leaves } = await makeTree(20);
    for (let size = 1; size <= 20; size += 1) {
      const root = naiveRoot(leaves.slice(0, size));
      for (let index = 0; index < size; index += 1) {
        const proof = (await tree.findInclusionProof(index, size)) ?? [];
        expect(verifyInclusion(nodeSha256, leaves[index] ?? root, index, { size, root }, proof)).toBe(true);
      }
      for (let first = 1; first <= size; first += 1) {
        const before = { size: first, root: naiveRoot(leaves.slice(0, first)) };
        const proof = (await tree.findConsistencyProof(first, size)) ?? [];
        expect(verifyConsistency(nodeSha256, before, { size, root }, proof)).toBe(true);
      }
    }
  });

  it('hold across tiles, and for no other entry, size or root', async () => {
    const { tree, leaves } = await makeTree(70_000);
    const sizes = fc.integer({ min: 2, max: 70_000 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), fc.nat(), async (size, a, b) => {
        const root = (await tree.findFrontier(size))?.root() ?? new Uint8Array(0);
        const index = a % size;
        const leaf = leaves[index] ?? root;
        const proof = (await tree.findInclusionProof(index, size)) ?? [];
        expect(verifyInclusion(nodeSha256, leaf, index, { size, root }, proof)).toBe(true);
        expect(verifyInclusion(nodeSha256, leaf, (index + 1) % size, { size, root }, proof)).toBe(false);
        expect(verifyInclusion(nodeSha256, nodeSha256(leaf), index, { size, root }, proof)).toBe(false);
        expect(verifyInclusion(nodeSha256, leaf, index, { size, root: nodeSha256(root) }, proof)).toBe(false);
        const first = 1 + (b % (size - 1));
        const before = { size: first, root: (await tree.findFrontier(first))?.root() ?? root };
        const between = (await tree.findConsistencyProof(first, size)) ?? [];
        expect(verifyConsistency(nodeSha256, before, { size, root }, between)).toBe(true);
        expect(verifyConsistency(nodeSha256, { size: first, root: nodeSha256(root) }, { size, root }, between)).toBe(
          false,
        );
      }),
      { numRuns: 50 },
    );
  });
});

function readVectors(name: string): Vector[] {
  const file = join(import.meta.dirname, '..', `../../test/fixtures/vectors/merkle/${name}.json`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function bytes(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}

function list(proof: readonly string[] | null): Uint8Array[] {
  return (proof ?? []).map(bytes);
}
