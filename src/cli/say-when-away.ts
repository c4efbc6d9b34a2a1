import type { Client } from '../api/client/client.ts';
import type { Io } from './command.ts';
import { describeWait } from './say-when-slow.ts';

/**
 * Whoever waits for something to happen hears, once, that the daemon has not answered for a while. It is asked now and then whether it is
 * there; a restart is shorter than two such looks.
 */
export function reportWhenAway(io: Io, client: Client): Disposable {
  const over = new AbortController();
  let misses = 0;
  let timer = setTimeout(look, AWAY_POLL_MS);

  function look(): void {
    void client.health({ signal: over.signal, timeoutMs: AWAY_ANSWER_MS }).then(({ ok }) => {
      if (over.signal.aborted) return;
      misses = ok ? 0 : misses + 1;
      if (misses === MAX_MISSES) io.err(describeWait(io));
      else timer = setTimeout(look, AWAY_POLL_MS);
    });
  }

  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

const AWAY_POLL_MS = 2000;
const AWAY_ANSWER_MS = 4000;
const MAX_MISSES = 2;
