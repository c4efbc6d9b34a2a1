import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { AnswerReader } from './answer-reader.ts';
import { NO_TOKENS, type TokenUse } from './request-meter.ts';

/** One request while it is counted. Whatever ends it first settles it; later calls change nothing. */
export interface MeteredAnswer {
  /** Counts the body of the request while it is sent. */
  send(asked: IncomingMessage): void;
  /** Reads the answer while `pass` passes it on, and settles at its end. */
  follow(answer: IncomingMessage, pass: () => void): void;
  /** Settles by a bound, because the answer was cut or none came; without use, if there was no connection. */
  cut(): void;
  /** Notes that there is a connection: from now on the request counts, whatever becomes of it. */
  connected(): void;
}

/** The estimated input of a request of this length. Text has three to four bytes per token. */
export function estimateInput({ 'content-length': length }: IncomingHttpHeaders): number {
  return toTokens(Number(length ?? 0));
}

function toTokens(bytes: number): number {
  return Number.isFinite(bytes) ? Math.min(MOST_INPUT, Math.ceil(bytes / BYTES_PER_TOKEN)) : 0;
}

const BYTES_PER_TOKEN = 3;
/** The largest context of any model that Baton knows. */
const MOST_INPUT = 2_000_000;

export function meterAnswer(input: number, settle: (used: TokenUse) => void): MeteredAnswer {
  const reader = new AnswerReader();
  const beganMs = performance.now();
  let bytes = 0;
  let isConnected = false;
  let isDecoding = false;
  let isSettled = false;
  const finish = (used: TokenUse): void => {
    if (isSettled) return;
    isSettled = true;
    settle(used);
  };
  const end = (isWhole: boolean): void => {
    const seconds = (performance.now() - beganMs) / 1000;
    finish(reader.end({ input: Math.max(input, toTokens(bytes)), isWhole, seconds }));
  };
  const read = (body: Readable): void => {
    body.on('data', (chunk: Buffer) => reader.push(chunk));
    body.once('end', () => end(true));
    body.once('error', () => end(false));
  };
  return {
    send: (asked) => asked.on('data', (chunk: Buffer) => (bytes += chunk.length)),
    follow: (answer, pass) => {
      // No API bills a request that it refuses.
      if ((answer.statusCode ?? 0) >= 300) finish(NO_TOKENS);
      const encoding = (answer.headers['content-encoding'] ?? '').trim().toLowerCase();
      if (encoding === '' || encoding === 'identity') {
        read(answer);
        return pass();
      }
      void createDecoder(encoding).then((decoder) => {
        read(decoder === undefined ? answer : answer.pipe(decoder));
        // The client may have its answer before the last bytes are decoded.
        if (decoder !== undefined) answer.once('end', () => (isDecoding = true));
        pass();
      });
    },
    cut: () => {
      if (isDecoding) return;
      if (isConnected) end(false);
      else finish(NO_TOKENS);
    },
    connected: () => (isConnected = true),
  };
}

/** Decodes an answer that is encoded although Baton asked for no encoding. An unknown encoding is counted by its bytes. */
async function createDecoder(encoding: string): Promise<Transform | undefined> {
  const zlib = await import('node:zlib');
  const decoders: Readonly<Record<string, () => Transform>> = {
    gzip: zlib.createGunzip,
    'x-gzip': zlib.createGunzip,
    deflate: zlib.createInflate,
    br: zlib.createBrotliDecompress,
    zstd: zlib.createZstdDecompress,
  };
  return decoders[encoding]?.();
}
