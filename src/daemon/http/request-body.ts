import type { IncomingMessage } from 'node:http';
import type { ApiError } from '../../api/answer.ts';
import { SERVER_LIMITS } from '../limits.ts';

export type BodyResult =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly error: ApiError };

/** Bytes of bodies in memory, of all requests together. */
let totalBytes = 0;

/** The whole body of a request. One that is too large is read to its end, within reason, so that its sender hears why. */
export async function readBody(
  request: IncomingMessage,
  most: number = SERVER_LIMITS.bodyBytes,
): Promise<BodyResult | 'gone'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let error = contentLengthError(request, most);
    const settle = (body: BodyResult | 'gone'): void => {
      totalBytes -= chunks.reduce((sum, { length }) => sum + length, 0);
      chunks.length = 0;
      request.removeAllListeners('data');
      resolve(body);
    };
    if (error !== undefined && Number(request.headers['content-length']) > SERVER_LIMITS.drainedBytes) {
      settle({ ok: false, error });
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > most) error ??= tooLarge(most);
      if (error === undefined) {
        chunks.push(chunk);
        totalBytes += chunk.length;
      } else if (size > SERVER_LIMITS.drainedBytes) {
        settle({ ok: false, error });
      }
    });
    request.once('end', () => {
      const [first = EMPTY] = chunks;
      const bytes = chunks.length <= 1 ? first : Buffer.concat(chunks);
      settle(error === undefined ? { ok: true, bytes } : { ok: false, error });
    });
    request.once('error', () => settle('gone'));
    request.once('close', () => settle('gone'));
  });
}

const EMPTY: Uint8Array<ArrayBuffer> = new Uint8Array(0);

function contentLengthError({ headers }: IncomingMessage, most: number): ApiError | undefined {
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > most) return tooLarge(most);
  return totalBytes + announced > SERVER_LIMITS.bodyBytesTogether ? BODIES_TOO_LARGE : undefined;
}

function tooLarge(most: number): ApiError {
  const hint = 'Send less, or name a file instead of sending its content.';
  return { code: 'too-large', message: `the body is larger than ${most} bytes`, hint };
}

const BODIES_TOO_LARGE: ApiError = {
  code: 'rate-limited',
  message: 'too much is being sent at once',
  hint: 'Wait a moment and send it again.',
};

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
