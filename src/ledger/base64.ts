/** Standard base64 with padding, by the functions that Node and browsers share. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Only the one spelling that `toBase64` writes is read: base64 with loose bits at its end would let a byte of a stored
 * signature change unnoticed.
 */
export function parseBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  const binary = atob(text);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return toBase64(bytes) === text ? bytes : undefined;
}
