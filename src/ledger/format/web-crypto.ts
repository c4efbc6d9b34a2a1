import type { Verifier } from './crypto.ts';
import { portableSha256 } from './sha256.ts';

/** The platform's side of `crypto.ts` wherever there is WebCrypto: in browsers, and in Node, too. */
export const webVerifier: Verifier = {
  sha256: portableSha256,
  async verifyEd25519(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    const key = await crypto.subtle.importKey('raw', owned(publicKey), 'Ed25519', false, ['verify']);
    return crypto.subtle.verify('Ed25519', key, owned(signature), owned(message));
  },
};

/** WebCrypto takes no view of memory that is shared between threads. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
