import type { ApiError } from './answer.ts';
import { readProcStat } from './proc.ts';
import { readDaemonRecord } from './state-folder.ts';

/** How the message of such an error begins. */
export const NOT_ANSWERING = 'the daemon does not answer';

/** The daemon of a state folder accepted the call and let its deadline pass: which process that is, and how to get it going again. */
export function notAnswering(stateDir: string): ApiError {
  const pid = readDaemonRecord(stateDir)?.pid;
  if (pid === undefined) return { code: 'no-answer', message: NOT_ANSWERING, hint: 'See whether it runs: baton up' };
  // T: stopped by a signal or by a debugger.
  const isStopped = /^[Tt]$/.test(readProcStat(pid)?.state ?? '');
  const hint = isStopped
    ? `It is stopped. Let it continue: kill -CONT ${pid}`
    : `See daemon.log in the state folder. To replace it: kill -KILL ${pid}, then: baton up`;
  return { code: 'no-answer', message: `${NOT_ANSWERING} (pid ${pid})`, hint };
}
