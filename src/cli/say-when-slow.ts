import { findStateDir, readDaemonRecord } from '../api/state-folder.ts';
import type { Io } from './command.ts';

/** A daemon that is busy, or stopped with a signal, says nothing: after a few seconds people hear whom they are waiting for. */
export function sayWhenSlow(io: Io, afterMs = SLOW_MS): Disposable {
  const timer = setTimeout(() => io.err(waitingFor(io)), afterMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

export function waitingFor({ env }: Pick<Io, 'env'>): string {
  const pid = readDaemonRecord(findStateDir(env))?.pid;
  const who = pid === undefined ? 'the daemon' : `the daemon (process ${pid})`;
  return `Waiting for ${who}, which has not answered yet. Ctrl-C gives up; daemon.log in the state folder may say more.\n`;
}

const SLOW_MS = 3000;
