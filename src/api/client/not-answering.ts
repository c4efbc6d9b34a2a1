import type { ApiError } from '../answer.ts';
import { readProcStat } from '../processes.ts';
import { readDaemonRecord } from '../state-folder.ts';

/** How the message of such an error begins. */
export const NOT_ANSWERING = 'the daemon does not answer';

/** The daemon of a state folder accepted the call and let its deadline pass: which process that is, and how to get it going again. */
export function notAnsweringError(stateDir: string): ApiError {
  const pid = readDaemonRecord(stateDir)?.pid;
  if (pid === undefined) return { code: 'no-answer', message: NOT_ANSWERING, hint: 'See whether it runs: baton up' };
  const hint = isSuspended(pid)
    ? `It is stopped. Let it continue: kill -CONT ${pid}`
    : `See daemon.log in the state folder. To replace it: kill -KILL ${pid}, then: baton up`;
  return { code: 'no-answer', message: `${NOT_ANSWERING} (pid ${pid})`, hint };
}

/** The daemon let the deadline of `baton down` pass. The intent to keep it down stays on record, so that nothing restarts it. */
export function notStoppingError(stateDir: string): ApiError {
  const error = notAnsweringError(stateDir);
  const pid = readDaemonRecord(stateDir)?.pid;
  return pid === undefined ? error : { ...error, hint: `End it: kill -KILL ${pid}. Agents go on, and it stays down.` };
}

/** By a signal or by a debugger. Only Linux tells. */
export function isSuspended(pid: number): boolean {
  return /^[Tt]$/.test(readProcStat(pid)?.state ?? '');
}
