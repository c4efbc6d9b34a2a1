import { isatty } from 'node:tty';
import type { Io } from './command.ts';

export interface Elapsed extends Disposable {
  /** Its `err` removes the line first, so that other messages begin on a line of their own. */
  readonly io: Io;
}

/** Shows a person at a terminal, from the first second on, how long a command has waited; the line is removed at its end. */
export function showElapsed(
  io: Io,
  { tickMs = TICK_MS, isShown = isatty(2) }: { readonly tickMs?: number; readonly isShown?: boolean } = {},
): Elapsed {
  let ticks = 0;
  let isPainted = false;
  const clear = (): void => {
    if (isPainted) io.err(CLEAR);
    isPainted = false;
  };
  const paint = (): void => {
    ticks += 1;
    isPainted = true;
    io.err(`${CLEAR}Waiting, ${ticks} s`);
  };
  const timer = io.isTerminal && isShown && io.env['TERM'] !== 'dumb' ? setInterval(paint, tickMs) : undefined;
  timer?.unref();
  const err = (text: string): void => {
    clear();
    io.err(text);
  };
  return {
    io: { ...io, err },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      clear();
    },
  };
}

const TICK_MS = 1000;
const CLEAR = '\r\u001B[K';
