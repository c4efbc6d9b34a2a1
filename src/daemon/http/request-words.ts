import { SERVER_LIMITS } from '../limits.ts';

/** Paths are sent percent-encoded, since headers are ASCII. Null where that does not decode. */
export function decodeProjectPath(path: string): string | null {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

export function isIdempotencyKey(key: unknown): key is string {
  return typeof key === 'string' && key.length <= SERVER_LIMITS.idempotencyKeyLength && /^[\x21-\x7e]+$/.test(key);
}
