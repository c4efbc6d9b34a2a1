/** The size of a text on the wire. Counted, not encoded, since it is asked for every field of every message. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (isPairAt(text, i, unit)) i += 1;
  }
  return bytes;
}

/** A surrogate pair is two units and four bytes, which is what the 2 + 2 above already come to. */
function isPairAt(text: string, i: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(i + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/** True for what can be read as text. A proxy may refuse to say what it is; then it is a value like any other. */
export function isTextOrBytes(input: unknown): input is string | Uint8Array {
  try {
    return typeof input === 'string' || input instanceof Uint8Array;
  } catch {
    return false;
  }
}

export function byteLengthOf(input: string | Uint8Array): number {
  return typeof input === 'string' ? utf8Length(input) : input.length;
}

/** What was received as text, or undefined where it is not UTF-8. A byte order mark is dropped: editors on Windows add it. */
export function decodeUtf8(input: string | Uint8Array): string | undefined {
  if (typeof input === 'string') return input.startsWith('\ufeff') ? input.slice(1) : input;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(input);
  } catch {
    return undefined;
  }
}
