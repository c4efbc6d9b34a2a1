import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeSha256 as ofNode, nodeVerifier } from '../writer/keys.ts';
import { testSigner } from '../writer/ledger.cases.ts';
import { toHex } from './bytes.ts';
import { portableSha256, webVerifier } from './crypto.ts';

describe('SHA-256 in plain TypeScript', () => {
  it('matches the examples of FIPS 180-4', () => {
    expect(hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    expect(hashOf('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    );
  });

  it('is the same as that of Node, at every length around the blocks and for any bytes', () => {
    for (let length = 0; length < 200; length += 1) {
      const bytes = new Uint8Array(length).fill(length);
      expect(toHex(portableSha256(bytes))).toBe(toHex(ofNode(bytes)));
    }
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 2_000 }),
        (bytes) => toHex(portableSha256(bytes)) === toHex(ofNode(bytes)),
      ),
    );
  });
});

describe('signatures by WebCrypto', () => {
  it('are valid exactly if Node accepts them', async () => {
    const signer = testSigner();
    const message = new TextEncoder().encode('baton/demo\n1\n');
    const good = signer.sign(message);
    const bad = good.with(3, (good[3] ?? 0) ^ 1);
    for (const verifier of [webVerifier, nodeVerifier]) {
      expect(await verifier.verifyEd25519(signer.publicKey, message, good)).toBe(true);
      expect(await verifier.verifyEd25519(signer.publicKey, message, bad)).toBe(false);
      expect(await verifier.verifyEd25519(testSigner(2).publicKey, message, good)).toBe(false);
      expect(await verifier.verifyEd25519(signer.publicKey, message, good.slice(1))).toBe(false);
    }
  });
});

function hashOf(text: string): string {
  return toHex(portableSha256(new TextEncoder().encode(text)));
}
