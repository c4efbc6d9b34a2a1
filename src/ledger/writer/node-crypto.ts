import { createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';
import type { Sha256, Signer, Verifier } from '../format/crypto.ts';

/**
 * The platform's side of `crypto.ts` on Node. Asked for a buffer, `hash` allocates memory of its own for 32 bytes, which
 * takes longer than hashing; as text they come cheaply, and are cut from shared memory.
 */
export const nodeSha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1');

export const nodeVerifier: Verifier = {
  sha256: nodeSha256,
  verifyEd25519: (publicKey, message, signature) =>
    signature.length === 64 && verify(null, message, importPublicKey(publicKey), signature),
};

export function signerOf(privateKey: KeyObject): Signer {
  return {
    publicKey: new Uint8Array(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)),
    sign: (message) => sign(null, message, privateKey),
  };
}

/** What stands before the 32 bytes of every Ed25519 key in its usual encoding (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

function importPublicKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
}
