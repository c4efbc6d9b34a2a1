import { statSync } from 'node:fs';
import { delay } from '../../api/client/http.ts';
import { readFileIfPresent } from '../../api/files.ts';
import { listLiving } from '../../api/processes.ts';
import type { UserSpec } from '../../protocol/sandbox.ts';
import { runAs, type RunAs } from './agent-user.ts';

/**
 * Kills the processes of a session. If the user serves no other session, all of its processes die: `kill -1` reaches
 * each, also one that left its group, its session and its environment behind. Otherwise only those that have `mark`
 * (`NAME=value`) in their environment. Returns the reason if some may be left.
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

/** Stops the processes of a session, or lets them go on. Resolves to whether none is left that does not obey. */
export async function stopUserProcesses(
  user: UserSpec,
  mark: string,
  isOnly: boolean,
  isStopped: boolean,
): Promise<boolean> {
  const ran = await signalAs(user, mark, isOnly, isStopped ? 'STOP' : 'CONT');
  // One that was being started meanwhile is stopped now.
  return isStopped ? (await signalAs(user, mark, isOnly, 'STOP')).ok : ran.ok;
}

async function signalAs(user: UserSpec, mark: string, isOnly: boolean, name: 'KILL' | 'STOP' | 'CONT'): Promise<RunAs> {
  const script = isOnly ? [`kill -${name} -1; true`] : [MARKED, 'sh', mark, name];
  return runAs(user, ['sh', '-c', ...script]);
}

/** Kills all processes of control groups, which a process cannot leave without the rights of the operator. */
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
    // It has ended, or only its own user may end it.
  }
}

function hasProcesses({ uid }: UserSpec): boolean {
  return listLiving().some(({ pid }) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid);
}

const LEFT = 'some of its processes are left';

/** `environ` can be read by processes of the same user only. Its entries end with a NUL. */
const MARKED = `found=0
for environ in $(grep -Flxz -- "$1" /proc/[0-9]*/environ 2>/dev/null); do
  pid=\${environ#/proc/}
  if kill "-$2" "\${pid%/environ}" 2>/dev/null; then found=1; fi
done
[ $found = 0 ] || [ "$2" != KILL ] || { echo ${LEFT} >&2; exit 1; }`;

const END_MS = 10_000;
const RETRY_MS = 50;
