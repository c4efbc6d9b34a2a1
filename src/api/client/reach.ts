import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ApiError, OrError } from '../answer.ts';
import { readProcStat } from '../processes.ts';
import { readDaemonRecord } from '../state-folder.ts';
import { delay, type HttpConnection, openConnection } from './http.ts';

export interface ReachOptions {
  readonly stateDir: string;
  /** The address of the calling agent's supervisor, which forwards calls over plain HTTP. */
  readonly url?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly autostart: boolean;
  /** The deadline on the clock of `performance.now()`. */
  readonly until: number;
}

export type Reached = OrError<{ readonly connection: HttpConnection }>;

export async function reachDaemon(options: ReachOptions): Promise<Reached> {
  const { stateDir, url, env, autostart, until } = options;
  for (;;) {
    const connection = await findDaemon(stateDir, url);
    if (connection !== undefined) return { ok: true, connection };
    if (!autostart) return { ok: false, error: DAEMON_AWAY };
    const leftMs = until - performance.now();
    if (leftMs <= 0) return { ok: false, error: DAEMON_AWAY };
    const { startDaemon } = await import('./start-daemon.ts');
    const start = await startDaemon({ stateDir, env, deadlineMs: leftMs });
    if (start.kind === 'failed') return { ok: false, error: start.error };
    // Another process starts or ends a daemon. No event reports that, so this process polls.
    if (start.kind === 'elsewhere') await delay(20);
  }
}

/** Connects an agent through its supervisor, which keeps calls, or directly if its supervisor was killed. */
export async function findDaemon(stateDir: string, url?: string): Promise<HttpConnection | undefined> {
  const port = /^http:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(url ?? '')?.[1];
  const supervisor = port === undefined ? undefined : await openConnection({ host: '127.0.0.1', port: Number(port) });
  if (supervisor !== undefined) return supervisor;
  const record = readDaemonRecord(stateDir);
  if (record === undefined || !isOwnSocket(record.socket, stateDir)) return undefined;
  return openConnection({ path: record.socket });
}

/** Outside the state folder other users can create sockets, which must not receive the token. */
export function isOwnSocket(socket: string, stateDir: string): boolean {
  if (dirname(socket) === stateDir) return true;
  try {
    return lstatSync(socket).uid === process.getuid?.() && lstatSync(dirname(socket)).uid === process.getuid();
  } catch {
    return false;
  }
}

const DAEMON_AWAY: ApiError = {
  code: 'daemon-away',
  message: 'no daemon answers for this state folder',
  hint: 'Run: baton up',
};

export const NOT_ANSWERING = 'the daemon does not answer';

export function notAnsweringError(stateDir: string): ApiError {
  const pid = readDaemonRecord(stateDir)?.pid;
  if (pid === undefined)
    return { code: 'no-answer', message: NOT_ANSWERING, hint: 'Start the daemon, or see that it runs: baton up' };
  const hint = isSuspended(pid)
    ? `The process is stopped. Let it continue: kill -CONT ${pid}`
    : `See daemon.log in the state folder. To replace it: kill -KILL ${pid}, then: baton up`;
  return { code: 'no-answer', message: `${NOT_ANSWERING} (pid ${pid})`, hint };
}

/** The error if the daemon did not stop in time. The intent stays recorded, so nothing restarts the daemon. */
export function notStoppingError(stateDir: string): ApiError {
  const error = notAnsweringError(stateDir);
  const pid = readDaemonRecord(stateDir)?.pid;
  return pid === undefined
    ? error
    : { ...error, hint: `End the process: kill -KILL ${pid}. Agents continue, and the daemon stays down.` };
}

/** Whether a signal or a debugger has suspended the process. Known on Linux only. */
export function isSuspended(pid: number): boolean {
  return /^[Tt]$/.test(readProcStat(pid)?.state ?? '');
}
