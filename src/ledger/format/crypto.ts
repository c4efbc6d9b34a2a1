/** Passed as an argument, so that the same proof check runs in Node and in a browser. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

export interface Verifier {
  readonly sha256: Sha256;
  /** Verifies Ed25519 (RFC 8032) over the message; the key is its 32 raw bytes. Browsers return a promise. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

export interface Signer {
  /** The 32 raw bytes of the public key. The private key stays inside the signer. */
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

/**
 * SHA-256 (FIPS 180-4) for browsers, because WebCrypto is asynchronous. Node has its own, which is faster for long
 * inputs.
 */
export function portableSha256(bytes: Uint8Array): Uint8Array {
  HASH.set(INITIAL);
  const { length } = bytes;
  const whole = length - (length % 64);
  for (let start = 0; start < whole; start += 64) addBlock(bytes, start);
  const padded = pad(bytes, whole);
  for (let start = 0; start < padded; start += 64) addBlock(END, start);
  const digest = new Uint8Array(32);
  for (let i = 0; i < 8; i += 1) {
    const word = at(HASH, i);
    digest[4 * i] = word >>> 24;
    digest[4 * i + 1] = word >>> 16;
    digest[4 * i + 2] = word >>> 8;
    digest[4 * i + 3] = word;
  }
  return digest;
}

/**
 * Pads the last bytes with a one bit, zeros and the length in bits, to one block of 64 bytes or two. Returns the padded
 * length.
 */
function pad(bytes: Uint8Array, from: number): number {
  const rest = bytes.length - from;
  const size = rest < 56 ? 64 : 128;
  END.fill(0);
  END.set(from === 0 ? bytes : bytes.subarray(from));
  END[rest] = 0x80;
  LENGTH.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
  LENGTH.setUint32(size - 4, bytes.length << 3);
  return size;
}

/** Reused for every hash: allocating them takes longer than hashing a short entry. */
const HASH = new Int32Array(8);
const WORDS = new Int32Array(64);
const END = new Uint8Array(128);
const LENGTH = new DataView(END.buffer);

/** One round per step, in plain variables: V8 runs this four times as fast as with arrays and destructuring. */
function addBlock(block: Uint8Array, start: number): void {
  for (let i = 0, j = start; i < 16; i += 1, j += 4)
    WORDS[i] =
      (byteAt(block, j) << 24) | (byteAt(block, j + 1) << 16) | (byteAt(block, j + 2) << 8) | byteAt(block, j + 3);
  for (let i = 16; i < 64; i += 1) {
    const x = at(WORDS, i - 15);
    const y = at(WORDS, i - 2);
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    WORDS[i] = (at(WORDS, i - 16) + s0 + at(WORDS, i - 7) + s1) | 0;
  }
  let a = at(HASH, 0);
  let b = at(HASH, 1);
  let c = at(HASH, 2);
  let d = at(HASH, 3);
  let e = at(HASH, 4);
  let f = at(HASH, 5);
  let g = at(HASH, 6);
  let h = at(HASH, 7);
  for (let i = 0; i < 64; i += 1) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + at(ROUNDS, i) + at(WORDS, i)) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  HASH[0] = at(HASH, 0) + a;
  HASH[1] = at(HASH, 1) + b;
  HASH[2] = at(HASH, 2) + c;
  HASH[3] = at(HASH, 3) + d;
  HASH[4] = at(HASH, 4) + e;
  HASH[5] = at(HASH, 5) + f;
  HASH[6] = at(HASH, 6) + g;
  HASH[7] = at(HASH, 7) + h;
}

function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
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
