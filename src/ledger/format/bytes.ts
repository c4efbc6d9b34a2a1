const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function toHex(bytes: Uint8Array): string {
  return hasToHex ? bytes.toHex() : bytes.reduce((text, byte) => text + PAIRS[byte], '');
}

/** `Uint8Array.prototype.toHex` is missing in the oldest supported Node. */
const hasToHex = 'toHex' in Uint8Array.prototype;

/** Parses lower case only, so that a hash has one spelling. */
export function parseHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16));
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

export function toBase64(bytes: Uint8Array): string {
  return hasToBase64 ? bytes.toBase64() : btoa(String.fromCharCode(...bytes));
}

/** `toBase64` is missing in the oldest supported Node. Hashes and signatures fit into one call. */
const hasToBase64 = 'toBase64' in Uint8Array.prototype;

/** Accepts only what `toBase64` writes: with other spellings a byte of a stored signature could change unnoticed. */
export function parseBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const bytes = decode(text);
  return bytes && toBase64(bytes) === text ? bytes : undefined;
}

function decode(text: string): Uint8Array | undefined {
  try {
    if (hasToBase64) return Uint8Array.fromBase64(text);
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
