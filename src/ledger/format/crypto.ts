/** Cryptography arrives as an argument, so that the same proof check runs in Node and in a browser. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

export interface Verifier {
  readonly sha256: Sha256;
  /** Ed25519 (RFC 8032) over the message; the key is its 32 raw bytes. Browsers return a promise. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

export interface Signer {
  /** The 32 raw bytes of the public key. The private key never leaves the signer. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/** SHA-256 (FIPS 180-4) for browsers, because WebCrypto is asynchronous. Node has its own, several times faster. */
export function portableSha256(bytes: Uint8Array): Uint8Array {
  const hash = Int32Array.from(INITIAL);
  const words = new Int32Array(64);
  const padded = pad(bytes);
  for (let at = 0; at < padded.byteLength; at += 64) addBlock(hash, words, padded, at);
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, word] of hash.entries()) digest.setInt32(4 * i, word);
  return new Uint8Array(digest.buffer);
}

/** Pads to whole blocks of 64 bytes: a one bit, zeros, and the length in bits. */
function pad(bytes: Uint8Array): DataView {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const padded = new Uint8Array(64 * blocks);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, 8n * BigInt(bytes.length));
  return view;
}

function addBlock(hash: Int32Array, words: Int32Array, block: DataView, start: number): void {
  for (let i = 0; i < 16; i += 1) words[i] = block.getInt32(start + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const [a, b] = [at(words, i - 15), at(words, i - 2)];
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    words[i] = (at(words, i - 16) + s0 + at(words, i - 7) + s1) | 0;
  }
  let [a, b, c, d] = [at(hash, 0), at(hash, 1), at(hash, 2), at(hash, 3)];
  let [e, f, g, h] = [at(hash, 4), at(hash, 5), at(hash, 6), at(hash, 7)];
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(ROUNDS, i) + at(words, i)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) hash[i] = (at(hash, i) + word) | 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

/** The first 32 bits of the fractional parts of square (or cube) roots of the first primes. */
function rootBits(count: number, power: number): Int32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return Int32Array.from(primes, (prime) => ((prime ** power % 1) * 2 ** 32) | 0);
}

const INITIAL = rootBits(8, 1 / 2);
const ROUNDS = rootBits(64, 1 / 3);

export const webVerifier: Verifier = {
  sha256: portableSha256,
  async verifyEd25519(publicKey, message, signature) {
    if (publicKey.length !== 32 || signature.length !== 64) return false;
    const key = await crypto.subtle.importKey('raw', owned(publicKey), 'Ed25519', false, ['verify']);
    return crypto.subtle.verify('Ed25519', key, owned(signature), owned(message));
  },
};

/** WebCrypto refuses views of memory shared between threads. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
