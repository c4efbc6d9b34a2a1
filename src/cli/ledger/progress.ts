import type { Io } from '../command.ts';

/** Below this a person has not begun to wonder. */
const WORTH_SHOWING = 50_000;

/** A line on standard error that says how far a long check has come; only for people, and gone when it ends. */
export function createProgress(io: Io, total: number): { show: (done: number) => void; clear: () => void } {
  if (!io.isTerminal || total < WORTH_SHOWING) return { show: () => {}, clear: () => {} };
  let shown = -1;
  return {
    show(done) {
      const percent = Math.floor((100 * done) / total);
      if (percent === shown) return;
      shown = percent;
      io.err(`\rverifying: ${percent}% (${done} of ${total} entries)`);
    },
    clear: () => io.err('\r\u001b[K'),
  };
}
