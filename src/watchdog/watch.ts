import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { findDaemon } from '../api/client/reach.ts';
import { startDaemon } from '../api/client/start-daemon.ts';
import { hasDownIntent, readDaemonRecord, stateFiles } from '../api/state-folder.ts';
import { fieldsInJson, findText, textOf } from '../protocol/shape/read-unknown.ts';
import { readRestarts, writeRestarts } from './restart-record.ts';
import { crashesInRow, longerDelay, restartDelay, type RestartTimes } from './restart-times.ts';

export interface WatchOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly times: RestartTimes;
}

/**
 * Restarts a daemon that crashed, with growing delays. Resolves when a daemon runs, whichever process started it, when
 * `baton down` is recorded or the state folder is gone, or when the watchdog gives up.
 */
export async function restartDaemon(options: WatchOptions): Promise<void> {
  const { stateDir, times } = options;
  const { log } = stateFiles(stateDir);
  const { started = '' } = readDaemonRecord(stateDir) ?? {};
  let inRow = crashesInRow(readRestarts(stateDir)?.in_row ?? 0, Date.now() - (Date.parse(started) || 0), times);
  let reason = crashReason(readLogEnd(log));
  for (;;) {
    const delayMs = restartDelay(inRow, times);
    if (!existsSync(stateDir)) return;
    const at = new Date().toISOString();
    writeRestarts(stateDir, { v: 1, in_row: inRow, at, reason, gave_up: delayMs === undefined });
    if (delayMs === undefined) return writeLogLine(log, 'the daemon is not started again', { crashes: inRow, reason });
    writeLogLine(log, 'the daemon crashed and is restarted', { crashes: inRow, wait_ms: delayMs, reason });
    const failure = await tryStart(options, delayMs);
    if (failure === undefined) return;
    inRow += 1;
    reason = failure;
  }
}

/**
 * Starts a daemon after a delay. Returns the reason if it did not start; undefined if a daemon runs or should not run.
 */
async function tryStart({ stateDir, env, times }: WatchOptions, delayMs: number): Promise<string | undefined> {
  for (let waitMs = delayMs; ; waitMs = longerDelay(waitMs, times)) {
    await pause(waitMs);
    if (!existsSync(stateDir) || hasDownIntent(stateDir)) return undefined;
    const connection = await findDaemon(stateDir);
    connection?.close();
    if (connection !== undefined) return undefined;
    const started = await startDaemon({ stateDir, env: { ...env, BATON_RESTARTED: '1' }, deadlineMs: START_MS });
    if (started.kind === 'listens') return undefined;
    if (started.kind === 'failed') return hasDownIntent(stateDir) ? undefined : started.error.message;
    // Another process is starting a daemon, or holds the lock: the next attempt shows the result. Each attempt costs a
    // process.
  }
}

const START_MS = 60_000;
const LOG_END_BYTES = 8192;

function writeLogLine(path: string, message: string, fields: Readonly<Record<string, string | number>>): void {
  const line = { at: new Date().toISOString(), level: 'error', message, pid: process.pid, ...fields };
  try {
    appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // A write error of the log must not prevent the restart.
  }
}

function readLogEnd(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.alloc(Math.min(size, LOG_END_BYTES));
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return bytes.toString('utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

/** The last line if it reports an internal error, otherwise Node's output after the daemon's JSON lines. */
export function crashReason(logEnd: string): string {
  const lines = logEnd.split('\n').map((line) => line.trim());
  const last = lines.findLastIndex((line) => line.startsWith('{"at":'));
  const behind = lines.slice(last + 1).filter((line) => line !== '');
  const printed = behind.find((line) => /^(?:\w*Error|FATAL ERROR)\b/.test(line)) ?? behind[0];
  const reason = printed ?? causeIn(lines[last] ?? '');
  return reason?.slice(0, MAX_LENGTH) ?? 'it was killed, or crashed without a message';
}

const MAX_LENGTH = 300;

function causeIn(line: string): string | undefined {
  const { message, cause } = fieldsInJson(line);
  return textOf(message).startsWith('the daemon ') ? findText(cause)?.split('\n')[0] : undefined;
}
