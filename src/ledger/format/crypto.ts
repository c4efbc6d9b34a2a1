/**
 * What pure code needs from the platform. It arrives as an argument, so that the same proof check runs on Node and in
 * a browser.
 */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

export interface Verifier {
  readonly sha256: Sha256;
  /** Ed25519 (RFC 8032) over the message; the key is its 32 raw bytes. Browsers answer with a promise. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

export interface Signer {
  /** The 32 raw bytes of the public key. The private one never leaves the signer. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}
