import type { ServerResponse } from 'node:http';
import { HEARTBEAT, openEventStream } from '../../api/http/event-stream.ts';
import { WakeSignal } from '../../api/wake-signal.ts';
import type { EntryFeed } from '../project/entry-feed.ts';
import { SERVER_LIMITS } from '../limits.ts';

/** Sends entries after `seq`, then each new durable one; event ids are their numbers. Resolves when the stream ends. */
export async function streamEvents(
  response: ServerResponse,
  feed: EntryFeed,
  after: number,
  signal: AbortSignal,
  stallMs: number = SERVER_LIMITS.streamStallMs,
): Promise<void> {
  const bell = new WakeSignal();
  const ring = (): void => bell.ring();
  const leave = feed.follow(ring);
  signal.addEventListener('abort', ring, { once: true });
  response.once('close', ring);
  openEventStream(response);
  // Skipped while data is unsent, because that data shows the same.
  const pulse = setInterval(
    () => response.writableLength === 0 && response.write(HEARTBEAT),
    SERVER_LIMITS.streamPulseMs,
  );
  try {
    for (let seq = after; !signal.aborted && !response.destroyed;) {
      const next = await feed.readAfter(seq);
      if (next.seq === seq) await bell.wait();
      else if (!(await writeText(response, next.text, signal, stallMs))) return;
      seq = next.seq;
    }
  } finally {
    clearInterval(pulse);
    leave();
    response.end();
  }
}

/**
 * Returns false after disconnecting a reader that read nothing for `stallMs`. The reader may resume after its last id.
 */
export async function writeText(
  response: ServerResponse,
  text: string,
  signal: AbortSignal,
  stallMs: number,
): Promise<boolean> {
  if (response.write(text)) return true;
  return new Promise((resolve) => {
    const settle = (isTaken: boolean) => (): void => {
      clearTimeout(stall);
      response.off('drain', onDrain);
      response.off('close', onEnd);
      signal.removeEventListener('abort', onEnd);
      if (!isTaken) response.destroy();
      resolve(isTaken);
    };
    const [onDrain, onEnd] = [settle(true), settle(false)];
    const stall = setTimeout(onEnd, stallMs);
    response.once('drain', onDrain);
    response.once('close', onEnd);
    signal.addEventListener('abort', onEnd, { once: true });
  });
}
