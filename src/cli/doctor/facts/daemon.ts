import { lstatSync } from 'node:fs';
import { createClient } from '../../../api/client/connect.ts';
import { readFileIfPresent } from '../../../api/files.ts';
import { findDaemon, isOwnSocket } from '../../../api/client/reach.ts';
import { readProcFile, readProcStat, isLiving } from '../../../api/processes.ts';
import { hasDownIntent, readDaemonRecord, stateFiles } from '../../../api/state-folder.ts';
import { fieldsInJson } from '../../../protocol/shape/read-unknown.ts';
import { readRestarts } from '../../../watchdog/restart-record.ts';
import { statusTimeoutMs } from '../../ask.ts';
import { VERSION } from '../../version.ts';
import type { DaemonFacts } from '../checks/daemon.ts';
import type { Place } from '../place.ts';

/** Starts no daemon. The request leaves a pass in the state folder, which a daemon that answers removes. */
export async function readDaemonFacts({ stateDir, env }: Place): Promise<DaemonFacts> {
  const files = stateFiles(stateDir);
  const record = readDaemonRecord(stateDir);
  const pid = record?.pid ?? readLockHolder(files.lock);
  return {
    version: VERSION,
    pid,
    record,
    socket: readSocket(record?.socket ?? files.socket, stateDir),
    answer: await ask(stateDir, env),
    isAlive: pid !== undefined && isDaemon(pid),
    isDown: hasDownIntent(stateDir),
    crashes: readRestarts(stateDir),
    log: files.log,
  };
}

function readSocket(path: string, stateDir: string): DaemonFacts['socket'] {
  try {
    const stat = lstatSync(path);
    return { path, isSocket: stat.isSocket(), isOwn: isOwnSocket(path, stateDir), mode: stat.mode };
  } catch {
    return null;
  }
}

/** Returns the process that locked the state folder last, because the daemon's record may be damaged. */
function readLockHolder(lock: string): number | undefined {
  const { pid } = fieldsInJson(readFileIfPresent(`${lock}.writer`));
  return typeof pid === 'number' ? pid : undefined;
}

async function ask(stateDir: string, env: Place['env']): Promise<DaemonFacts['answer']> {
  const connection = await findDaemon(stateDir);
  if (connection === undefined) return { kind: 'none' };
  connection.close();
  const answerMs = statusTimeoutMs({ env });
  const client = createClient({ env, stateDir, autostart: false, reachMs: answerMs, answerMs });
  try {
    const health = await client.health();
    if (health.ok) return { kind: 'health', health: health.result };
    const { message, hint } = health.error;
    return { kind: 'error', message, hint };
  } finally {
    client.close();
  }
}

/** Another program's process may have the number now. Outside of Linux only the number counts. */
function isDaemon(pid: number): boolean {
  const stat = readProcStat(pid);
  if (stat !== undefined) return isLiving(stat) && /daemon|up\0--foreground/.test(readProcFile(pid, 'cmdline'));
  try {
    return process.platform !== 'linux' && process.kill(pid, 0);
  } catch {
    return false;
  }
}
