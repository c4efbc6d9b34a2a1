import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, listLiving, readProcFile } from '../../api/processes.ts';
import { isOfOtherRun } from '../../api/supervisors-above.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { isShortage } from '../../protocol/resource-faults.ts';
import type { agentFiles, Running } from '../../supervisor/contract.ts';

export type SupervisedFiles = ReturnType<typeof agentFiles>;

/** The state of one start of a supervised process, from its folder and the process list. */
export type SupervisedProcess =
  | { readonly kind: 'untaken' }
  /** The supervisor is starting, and its process does not run yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly running: Running }
  | { readonly kind: 'ended'; readonly running: Running | undefined; readonly exit: Exit }
  /** The supervisor ended without an exit file. Its child processes may still run. */
  | { readonly kind: 'lost'; readonly running: Running | undefined };

/** `isThere`: the caller knows that the supervisor is alive. */
export function inspectSupervised(files: SupervisedFiles, start: number, isThere = false): SupervisedProcess {
  const running = readRunning(files, start);
  // Checked before the folder is read again: a supervisor that ends in between has written its exit file by then.
  const isAlive = running === undefined ? isThere || isStarting(files, start) : !hasEnded(running.supervisor);
  const exit = readExit(files, start);
  if (exit !== undefined) return { kind: 'ended', running: running ?? readRunning(files, start), exit };
  if (running !== undefined) return isAlive ? { kind: 'running', running } : { kind: 'lost', running };
  if (isAlive) return { kind: 'starting' };
  // The process may have started and been killed since the first check.
  const late = readRunning(files, start);
  if (late !== undefined)
    return hasEnded(late.supervisor) ? { kind: 'lost', running: late } : { kind: 'running', running: late };
  return existsSync(files.taken(start)) ? { kind: 'lost', running: undefined } : { kind: 'untaken' };
}

export function readRunning(files: SupervisedFiles, start: number): Running | undefined {
  // Supervisors write their files atomically.
  return readJson(files.running(start)) as Running | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function readExit(files: SupervisedFiles, start: number): Exit | undefined {
  return readJson(files.exit(start)) as Exit | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** A supervisor that has not written its port yet is found by its command line. Without a launch file there is none. */
function isStarting(files: SupervisedFiles, start: number): boolean {
  return existsSync(files.launch(start)) && findProcessesByArguments(files.folder, String(start)).length > 0;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // The file may exist, but no descriptor was left to open it.
    if (isShortage(error)) throw error;
    return undefined;
  }
}

/** The file that names the project of a run's folder: all projects of a state folder share one parent folder. */
export function ownerFile(folder: string): string {
  return join(folder, 'project');
}

export interface Remains {
  /** A variable in the environment of every process of the run, even those that left its process group. */
  readonly mark: { readonly name: string; readonly value: string };
  /** Boot id, pid and start time of the process group leaders. */
  readonly leaders: readonly string[];
  /** Whether another process wrote the exit file. Processes with the mark may then belong to the run's next start. */
  readonly isSettled?: () => boolean;
}

/** Kills in rounds, because a process may start another one in between. Returns false if some processes remain. */
export async function killRemains({ mark, leaders, isSettled = () => false }: Remains): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    if (isSettled()) return true;
    const alive = leaders.filter((leader) => !hasEnded(leader)).map((leader) => Number(leader.split('/')[1]));
    const marked = findProcessesByMark(mark);
    if (alive.length === 0 && marked.length === 0) return true;
    // The group id is known to belong to the run only while its leader lives.
    for (const pid of alive) killProcess(-pid);
    for (const pid of [...alive, ...marked]) killProcess(pid);
    await pause(Math.min(10 * 2 ** round, 200));
  }
  return false;
}

/** About five seconds. A process that survives SIGKILL for longer waits for a device. */
const ROUNDS = 30;

export function findProcessesByMark({ name, value }: Remains['mark']): number[] {
  const mark = `${name}=${value}`;
  const isMarked = (pid: number): boolean => `\0${readProcFile(pid, 'environ')}`.includes(`\0${mark}\0`);
  return findLiving((pid) => pid !== process.pid && isMarked(pid) && !isOfOtherRun(pid, mark));
}

export function findProcessesByArguments(...lastArguments: readonly string[]): number[] {
  const end = `\0${lastArguments.join('\0')}\0`;
  return findLiving((pid) => readProcFile(pid, 'cmdline').endsWith(end));
}

function findLiving(isWanted: (pid: number) => boolean): number[] {
  return listLiving()
    .map(({ pid }) => pid)
    .filter(isWanted);
}

export function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended or belongs to another user.
  }
}
