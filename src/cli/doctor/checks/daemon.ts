import type { Health } from '../../../api/client/client.ts';
import type { DaemonRecord } from '../../../api/state-folder.ts';
import type { RestartRecord } from '../../../watchdog/restart-record.ts';
import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export interface DaemonFacts {
  readonly version: string;
  /** The process id of the last daemon; undefined if unknown. */
  readonly pid: number | undefined;
  /** The record that the daemon left; undefined if it is missing or unreadable. */
  readonly record: DaemonRecord | undefined;
  readonly socket: SocketFacts | null;
  readonly answer:
    | { readonly kind: 'none' }
    | { readonly kind: 'health'; readonly health: Pick<Health, 'version' | 'pid' | 'started'> }
    /** The daemon accepts connections but does not answer, or refuses. */
    | { readonly kind: 'error'; readonly message: string; readonly hint: string };
  /** Whether that process is a running daemon. */
  readonly isAlive: boolean;
  readonly isDown: boolean;
  readonly crashes: Pick<RestartRecord, 'in_row' | 'at' | 'reason' | 'gave_up'> | undefined;
  readonly log: string;
}

interface SocketFacts {
  readonly path: string;
  readonly isSocket: boolean;
  readonly isOwn: boolean;
  readonly mode: number;
}

export const daemonCheck = defineCheck('daemon', 'Whether it answers on its socket, and in which version', {
  answers: ok('A daemon answers'),
  none: ok('No daemon runs: a command that needs one starts it, or `baton down` is in force'),
  stale: warning('The socket or the record of a daemon that no longer runs', 'removes them'),
  unreachable: problem('The process of the daemon runs, and cannot be reached by its socket'),
  silent: problem('The daemon accepts connections, and does not answer'),
  'foreign-socket': problem('The socket belongs to another user: no command connects to it'),
  'not-a-socket': problem('There is another file in place of the socket'),
  'open-socket': problem('Other users can connect to the socket', 'makes it private'),
  'other-version': problem('The daemon is of another version than this command, and refuses its calls'),
  crashed: problem('The daemon crashed several times, and is not started again'),
});

export function diagnoseDaemon(facts: DaemonFacts): readonly Diagnosis[] {
  return [...diagnoseCrashes(facts), ...diagnoseSocket(facts), diagnoseAnswer(facts)].flatMap((each) => each ?? []);
}

function diagnoseCrashes({ crashes, log }: DaemonFacts): readonly Diagnosis[] {
  if (crashes === undefined || (!crashes.gave_up && crashes.in_row < CRASHES_SHOWN)) return [];
  const end = crashes.gave_up ? ', and is not started again' : '';
  const detail = `the daemon crashed ${crashes.in_row} times in a row${end}; last at ${crashes.at}: ${crashes.reason}`;
  return [daemonCheck.found('crashed', { detail, fix: `Find the cause in ${log}, then: baton up` })];
}

/** A single crash is not reported. */
const CRASHES_SHOWN = 3;

function diagnoseSocket({ socket }: DaemonFacts): readonly Diagnosis[] {
  if (socket === null) return [];
  const { path, isSocket, isOwn, mode } = socket;
  if (!isOwn) {
    const detail = `${path} belongs to another user`;
    return [daemonCheck.found('foreign-socket', { detail, fix: 'Set BATON_STATE_DIR to a folder of your own.' })];
  }
  if (!isSocket) {
    const fix = `Move it away: mv ${path} ${path}.old`;
    return [daemonCheck.found('not-a-socket', { detail: `${path} is not a socket`, fix })];
  }
  if ((mode & 0o077) === 0) return [];
  const repair = { kind: 'make-private', path, mode: 0o600 } as const;
  return [
    daemonCheck.found('open-socket', { detail: `${path} is open to other users`, fix: `chmod 600 ${path}`, repair }),
  ];
}

function diagnoseAnswer({
  version,
  pid,
  record,
  socket,
  answer,
  isAlive,
  isDown,
  log,
}: DaemonFacts): Diagnosis | undefined {
  if (answer.kind === 'health') {
    const { version: theirs, pid: process, started } = answer.health;
    if (theirs === version)
      return daemonCheck.found('answers', { detail: `Baton ${theirs}, process ${process}, since ${started}` });
    const detail = `the daemon is Baton ${theirs} (process ${process}), and this command is ${version}`;
    return daemonCheck.found('other-version', { detail, fix: 'baton down && baton up. Agents keep running.' });
  }
  if (answer.kind === 'error') {
    return daemonCheck.found('silent', { detail: answer.message, fix: answer.hint });
  }
  if (socket?.isOwn === false || socket?.isSocket === false) return undefined;
  const known = pid === undefined ? '' : ` (process ${pid})`;
  if (isAlive) {
    const why = record === undefined ? 'its record cannot be read' : 'its socket refuses connections';
    const fix = `See ${log}. To replace it: kill ${pid ?? 'PID'}, then: baton up`;
    return daemonCheck.found('unreachable', { detail: `the daemon runs${known}, but ${why}`, fix });
  }
  if (record !== undefined || socket !== null) {
    const what = record === undefined ? 'a socket' : socket === null ? 'a record' : 'a record and a socket';
    const detail = `${what} of a daemon that no longer runs${known}`;
    const fix = 'The next daemon replaces them: baton up, or remove them: baton doctor --fix';
    return daemonCheck.found('stale', { detail, fix, repair: { kind: 'remove-stale-daemon' } });
  }
  const why = isDown ? 'baton down is in force' : 'a command that needs one starts it';
  return daemonCheck.found('none', { detail: `no daemon runs; ${why}` });
}
