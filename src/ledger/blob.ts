import type { Json, JsonObject } from './format/canonical-json.ts';
import { parseHex, toHex } from './format/bytes.ts';

/** How an entry names a blob: as the text of a field called `blob`, or ending in `_blob`. */
export function blobName(hash: Uint8Array): string {
  return `sha256:${toHex(hash)}`;
}

export function parseBlobName(name: string): Uint8Array | undefined {
  return /^sha256:[0-9a-f]{64}$/.test(name) ? parseHex(name.slice(7)) : undefined;
}

/** Every blob that an entry names. Only fields made for it count, so that an agent's text never looks like one. */
export function blobsNamedIn(data: Json): readonly Uint8Array[] {
  if (typeof data !== 'object' || data === null) return NONE;
  if (isArray(data)) return data.map(blobsNamedIn).reduce(join, NONE);
  let found = NONE;
  for (const key in data) {
    const child = data[key];
    if (typeof child === 'object') found = join(found, blobsNamedIn(child));
    if (typeof child !== 'string' || !/(?:^|_)blob$/.test(key)) continue;
    const hash = parseBlobName(child);
    if (hash) found = join(found, [hash]);
  }
  return found;
}

const NONE: readonly Uint8Array[] = [];

function join(a: readonly Uint8Array[], b: readonly Uint8Array[]): readonly Uint8Array[] {
  if (b.length === 0) return a;
  return a.length === 0 ? b : a.concat(b);
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
