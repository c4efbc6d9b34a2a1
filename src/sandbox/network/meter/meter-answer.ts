import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { UNKNOWN_MODELS } from '../../../protocol/price.ts';
import type { Injection } from '../../../protocol/sandbox.ts';
import { AnswerReader } from './answer-reader.ts';
import { type BodyRefusal, RequestBody } from './request-body.ts';
import { NO_TOKENS, type TokenUse } from './request-meter.ts';

/** One request while it is counted. Whatever ends it first settles it; later calls change nothing. */
export interface MeteredAnswer {
  /** Counts the body of the request, and returns it to be sent. Bytes with what Baton refuses, and later ones, are not. */
  send(asked: IncomingMessage, onRefused: (refusal: BodyRefusal) => void): Readable;
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

export interface MeteredRequestLine {
  readonly api: Injection['api'];
  /** The path below the base URL. Gemini's names the model. */
  readonly path: string;
  /** The estimated input. */
  readonly input: number;
}

export function meterAnswer({ api, path, input }: MeteredRequestLine, settle: (used: TokenUse) => void): MeteredAnswer {
  const reader = new AnswerReader();
  const asks = new RequestBody();
  const beganMs = performance.now();
  let bytes = 0;
  let isConnected = false;
  let isAnswered = false;
  let isDecoding = false;
  let isSettled = false;
  const finish = (used: TokenUse): void => {
    if (isSettled) return;
    isSettled = true;
    settle(used);
  };
  const end = (isWhole: boolean): void => {
    const seconds = (performance.now() - beganMs) / 1000;
    const sent = asks.isStored ? MOST_INPUT : Math.max(input, toTokens(bytes));
    const model = asks.model ?? /\/models\/([^/:]+):/.exec(path)?.[1] ?? UNKNOWN_MODELS[api];
    finish(reader.end({ input: sent, isWhole, seconds, answers: asks.answers, model }));
  };
  const read = (body: Readable): void => {
    body.on('data', (chunk: Buffer) => reader.push(chunk));
    body.once('end', () => end(true));
    body.once('error', () => end(false));
  };
  return {
    send: (asked, onRefused) =>
      asked.pipe(
        new Transform({
          transform: (chunk: Buffer, _, done) => {
            const refusal = asks.push(chunk);
            bytes += chunk.length;
            if (refusal === undefined) return done(null, chunk);
            // The API never gets the whole request.
            if (!isAnswered) finish(NO_TOKENS);
            onRefused(refusal);
          },
        }),
      ),
    follow: (answer, pass) => {
      isAnswered = true;
      const status = answer.statusCode ?? 0;
      // No API bills a request that it refuses. A gateway that did not wait for the answer does not know.
      if (status >= 300 && !TIMEOUTS.has(status)) finish(NO_TOKENS);
      const encoding = encodingOf(answer.headers);
      if (encoding === '') {
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

/** The encoding of a body; empty if it has none. */
export function encodingOf({ 'content-encoding': encoding = '' }: IncomingHttpHeaders): string {
  const name = encoding.trim().toLowerCase();
  return name === 'identity' ? '' : name;
}

const TIMEOUTS: ReadonlySet<number> = new Set([504, 524]);

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
