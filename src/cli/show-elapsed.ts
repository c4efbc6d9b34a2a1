import { isatty } from 'node:tty';
import type { Io } from './command.ts';

export interface Elapsed extends Disposable {
  /** Its `err` removes the progress line first, so that other messages start on a new line. */
  readonly io: Io;
}

interface ElapsedOptions {
  readonly tickMs?: number;
  readonly isShown?: boolean;
  readonly label?: string;
}

/**
 * Shows a person at a terminal how long a command has waited, from the first second on. Removes the line at the end.
 */
export function showElapsed(
  io: Io,
  { tickMs = TICK_MS, isShown = isatty(2), label = 'Waiting' }: ElapsedOptions = {},
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
    io.err(`${CLEAR}${label}, ${ticks} s`);
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

/** Shows how long a command works without output. Ends with the first output, or when the command reads input. */
export function showSilence(io: Io, options: ElapsedOptions = {}): Elapsed {
  const elapsed = showElapsed(io, { ...options, label: 'Working' });
  const end = (): void => elapsed[Symbol.dispose]();
  const first = {
    out: (text: string): void => {
      end();
      io.out(text);
    },
    err: (text: string): void => {
      end();
      io.err(text);
    },
    readInput: async (): Promise<Uint8Array> => {
      end();
      return io.readInput();
    },
  };
  return { io: { ...io, ...first }, [Symbol.dispose]: end };
}

const TICK_MS = 1000;
const CLEAR = '\r\u001B[K';
