import { toHex } from './bytes.ts';
import type { Sha256 } from './crypto.ts';

/** 128 bits of the hash of a public key: short enough to compare and to type, too long to find a second key for. */
export function keyFingerprint(sha256: Sha256, publicKey: Uint8Array): string {
  return toHex(sha256(publicKey)).slice(0, 32);
}
