import { statSync } from 'node:fs';
import { delay } from '../../api/client/http.ts';
import { readFileIfPresent } from '../../api/files.ts';
import { listLiving } from '../../api/processes.ts';
import type { UserSpec } from '../../protocol/sandbox.ts';
import { runAs, type RunAs } from './agent-user.ts';

/**
 * Kills the processes of a session. If the user has no other session, all of its processes are killed: `kill -1`
 * reaches even a process that left its group, session and environment. Otherwise only those with `mark` (`NAME=value`)
 * in their environment are. Returns the reason if some may be left.
 */
export async function endUserProcesses(user: UserSpec, mark: string, isOnly: boolean): Promise<string | undefined> {
  const deadline = performance.now() + END_MS;
  for (;;) {
    const ran = await signalAs(user, mark, isOnly, 'KILL');
    if (ran.ok && !(isOnly && hasProcesses(user))) return undefined;
    if (performance.now() > deadline) return ran.ok ? LEFT : ran.reason;
    await delay(RETRY_MS);
  }
}

/** Stops or resumes the processes of a session. Resolves to whether all of them obeyed. */
export async function stopUserProcesses(
  user: UserSpec,
  mark: string,
  isOnly: boolean,
  isStopped: boolean,
): Promise<boolean> {
  const ran = await signalAs(user, mark, isOnly, isStopped ? 'STOP' : 'CONT');
  // Stops processes that were being started during the first signal.
  return isStopped ? (await signalAs(user, mark, isOnly, 'STOP')).ok : ran.ok;
}

async function signalAs(user: UserSpec, mark: string, isOnly: boolean, name: 'KILL' | 'STOP' | 'CONT'): Promise<RunAs> {
  const script = isOnly ? [`kill -${name} -1; true`] : [MARKED, 'sh', mark, name];
  return runAs(user, ['sh', '-c', ...script]);
}

/** Kills all processes of control groups, which a process cannot leave without the operator's rights. */
export async function endGroup(procs: readonly string[]): Promise<void> {
  const deadline = performance.now() + END_MS;
  for (;;) {
    const pids = procs.flatMap((path) => readFileIfPresent(path).split('\n').filter(Boolean).map(Number));
    if (pids.length === 0 || performance.now() > deadline) return;
    for (const pid of new Set(pids)) tryKill(pid);
    await delay(RETRY_MS);
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended, or only its own user may end it.
  }
}

function hasProcesses({ uid }: UserSpec): boolean {
  return listLiving().some(({ pid }) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid);
}

const LEFT = 'some of its processes are left';

/** Only processes of the same user can read `environ`. Its entries end with a NUL. */
const MARKED = `found=0
for environ in $(grep -Flxz -- "$1" /proc/[0-9]*/environ 2>/dev/null); do
  pid=\${environ#/proc/}
  if kill "-$2" "\${pid%/environ}" 2>/dev/null; then found=1; fi
done
[ $found = 0 ] || [ "$2" != KILL ] || { echo ${LEFT} >&2; exit 1; }`;

const END_MS = 10_000;
const RETRY_MS = 50;
