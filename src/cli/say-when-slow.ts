import { isSuspended } from '../api/client/not-answering.ts';
import { findStateDir, readDaemonRecord } from '../api/state-folder.ts';
import type { Io } from './command.ts';

/** Names the daemon that a command waits for, after a few seconds without an answer. */
export function reportWhenSlow(io: Io, afterMs = SLOW_MS): Disposable {
  const timer = setTimeout(() => io.err(describeWait(io)), afterMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

export function describeWait({ env }: Pick<Io, 'env'>): string {
  const pid = readDaemonRecord(findStateDir(env))?.pid;
  if (pid !== undefined && isSuspended(pid))
    return `Waiting for the daemon (process ${pid}), which is stopped. Let it continue: kill -CONT ${pid}\n`;
  const who = pid === undefined ? 'the daemon' : `the daemon (process ${pid})`;
  return `Waiting for ${who}, which has not answered yet. Ctrl-C gives up; daemon.log in the state folder may say more.\n`;
}

const SLOW_MS = 3000;
