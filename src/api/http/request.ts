import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ApiError, OrError } from '../answer.ts';

export const BODY_LIMITS = {
  /** The body of a request; of `task_import`, the limit of an import. */
  bodyBytes: 1024 * 1024,
  /** A refused body up to this size is read, so that the sender gets the response instead of a broken pipe. */
  drainedBytes: 16 * 1024 * 1024,
  /** The bodies that are being received at once. */
  bodyBytesTogether: 128 * 1024 * 1024,
} as const;

/** Accepts only names that DNS cannot redirect, to refuse a rebound web page. The port may be a local proxy's. */
export function isLoopbackHost({ host }: IncomingHttpHeaders): boolean {
  return host !== undefined && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host);
}

export function findBearerToken({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization?.startsWith('Bearer ') === true ? authorization.slice(7).trim() : undefined;
}

/**
 * Compares in constant time. `timingSafeEqual` would load `node:crypto`, two megabytes in each supervisor. An empty
 * secret equals nothing.
 */
export function isEqualSecret(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let i = 0; i < expected.length; i++)
    difference |= expected.charCodeAt(i) ^ given.charCodeAt(i % (given.length || 1));
  return difference === 0 && expected !== '';
}

export type BodyResult = OrError<{ readonly bytes: Buffer }>;
let receivingBytes = 0;

/** Returns 'gone' if the sender closed the connection first. */
export async function readBody(
  request: IncomingMessage,
  mostBytes: number = BODY_LIMITS.bodyBytes,
): Promise<BodyResult | 'gone'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let error = contentLengthError(request, mostBytes);
    const settle = (body: BodyResult | 'gone'): void => {
      receivingBytes -= chunks.reduce((sum, { length }) => sum + length, 0);
      chunks.length = 0;
      request.removeAllListeners('data');
      resolve(body);
    };
    if (error !== undefined && Number(request.headers['content-length']) > BODY_LIMITS.drainedBytes) {
      settle({ ok: false, error });
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > mostBytes) error ??= tooLarge(mostBytes);
      if (error === undefined) {
        chunks.push(chunk);
        receivingBytes += chunk.length;
      } else if (size > BODY_LIMITS.drainedBytes) {
        settle({ ok: false, error });
      }
    });
    request.once('end', () => {
      const [first = Buffer.alloc(0)] = chunks;
      const bytes = chunks.length <= 1 ? first : Buffer.concat(chunks);
      settle(error === undefined ? { ok: true, bytes } : { ok: false, error });
    });
    request.once('error', () => settle('gone'));
    request.once('close', () => settle('gone'));
  });
}

function contentLengthError({ headers }: IncomingMessage, mostBytes: number): ApiError | undefined {
  const announced = Number(headers['content-length'] ?? 0);
  if (announced > mostBytes) return tooLarge(mostBytes);
  return receivingBytes + announced > BODY_LIMITS.bodyBytesTogether ? TOO_MUCH_AT_ONCE : undefined;
}

export function tooLarge(mostBytes: number): ApiError {
  const hint = 'Send less, or name a file instead of sending its content.';
  return { code: 'too-large', message: `the body is larger than ${mostBytes} bytes`, hint };
}

const TOO_MUCH_AT_ONCE: ApiError = {
  code: 'rate-limited',
  message: 'too many large requests at once',
  hint: 'Wait a moment and send it again.',
};

/** Headers are ASCII, so paths are percent-encoded. Returns null if the encoding is malformed. */
export function decodeProjectPath(path: string): string | null {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** With a supervisor's token: the supervisor has found the tool calls of this request in its client's output. */
export const MATCHED_HEADER = 'baton-matched';
