import type { Client } from '../api/client.ts';
import type { Io } from './command.ts';
import { waitingFor } from './say-when-slow.ts';

/**
 * Whoever waits for something to happen hears, once, that the daemon has not answered for a while. It is asked now and then whether it is
 * there; a restart is shorter than two such looks.
 */
export function sayWhenAway(io: Io, client: Client): Disposable {
  const over = new AbortController();
  let misses = 0;
  let timer = setTimeout(look, LOOK_MS);

  function look(): void {
    void client.health({ signal: over.signal, timeoutMs: ANSWER_MS }).then(({ ok }) => {
      if (over.signal.aborted) return;
      misses = ok ? 0 : misses + 1;
      if (misses === MISSES) io.err(waitingFor(io));
      else timer = setTimeout(look, LOOK_MS);
    });
  }

  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

const LOOK_MS = 2000;
const ANSWER_MS = 4000;
const MISSES = 2;
