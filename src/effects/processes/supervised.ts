import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded, listLiving, readProcFile } from '../../api/processes.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { isShortage } from '../../protocol/resource-faults.ts';
import type { agentFiles, Running } from '../../supervisor/contract.ts';

export type SupervisedFiles = ReturnType<typeof agentFiles>;

/** Where one start of a supervised process stands, as far as its folder and the machine tell. */
export type SupervisedProcess =
  /** No supervisor has taken it. */
  | { readonly kind: 'untaken' }
  /** A supervisor is at it; its process does not run yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly running: Running }
  | { readonly kind: 'ended'; readonly running: Running | undefined; readonly exit: Exit }
  /** Its supervisor has gone without a word. What it had started may still be there. */
  | { readonly kind: 'lost'; readonly running: Running | undefined };

/** `isThere`: the supervisor is known to live, whether or not it has said so yet. */
export function inspectSupervised(files: SupervisedFiles, start: number, isThere = false): SupervisedProcess {
  const running = readRunning(files, start);
  // Asked before the folder is read again: one that ends in between has written its last word by then.
  const isAlive = running === undefined ? isThere || isStarting(files, start) : !hasEnded(running.supervisor);
  const exit = readExit(files, start);
  if (exit !== undefined) return { kind: 'ended', running: running ?? readRunning(files, start), exit };
  if (running !== undefined) return isAlive ? { kind: 'running', running } : { kind: 'lost', running };
  if (isAlive) return { kind: 'starting' };
  // It may have come to run, and have been killed, since we looked first.
  const late = readRunning(files, start);
  if (late !== undefined)
    return hasEnded(late.supervisor) ? { kind: 'lost', running: late } : { kind: 'running', running: late };
  return existsSync(files.taken(start)) ? { kind: 'lost', running: undefined } : { kind: 'untaken' };
}

export function readRunning(files: SupervisedFiles, start: number): Running | undefined {
  // Supervisors write their files whole: what is there and reads is what they wrote.
  return readJson(files.running(start)) as Running | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

export function readExit(files: SupervisedFiles, start: number): Exit | undefined {
  return readJson(files.exit(start)) as Exit | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** A supervisor that has not said where it listens is known by the words it was started with. Without a launch there is none. */
function isStarting(files: SupervisedFiles, start: number): boolean {
  return existsSync(files.launch(start)) && findProcessesByArguments(files.folder, String(start)).length > 0;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // A file that cannot be opened for want of a descriptor may well be there.
    if (isShortage(error)) throw error;
    return undefined;
  }
}

/** In the folder of a run: which project it belongs to. All projects of a state folder have theirs side by side. */
export function ownerFile(folder: string): string {
  return join(folder, 'project');
}

export interface Remains {
  /** A name and a value in the environment of everything that the run has started, also of what left its process group. */
  readonly mark: { readonly name: string; readonly value: string };
  /** Boot, number and start time of those that lead a group of their own. */
  readonly leaders: readonly string[];
  /** Somebody else has seen to it. What has the mark from then on may be the next start of the same run, and is left alone. */
  readonly isSettled?: () => boolean;
}

/**
 * Ends what is left of a run that nobody supervises any more. A process may start another while it is being ended, so we look
 * until there is none. False where some could not be ended.
 */
export async function killRemains({ mark, leaders, isSettled = () => false }: Remains): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    if (isSettled()) return true;
    const alive = leaders.filter((leader) => !hasEnded(leader)).map((leader) => Number(leader.split('/')[1]));
    const marked = findProcessesByMark(mark);
    if (alive.length === 0 && marked.length === 0) return true;
    // A group has the number of its leader; that is only known to be ours while the leader is there.
    for (const pid of alive) kill(-pid);
    for (const pid of [...alive, ...marked]) kill(pid);
    await pause(Math.min(10 * 2 ** round, 200));
  }
  return false;
}

/** About five seconds: what SIGKILL does not end within that time waits for a device. */
const ROUNDS = 30;

/** The processes that have a mark in the environment that they were started with; those of other users cannot be seen. */
export function findProcessesByMark({ name, value }: Remains['mark']): number[] {
  const text = `\0${name}=${value}\0`;
  return findLiving((pid) => pid !== process.pid && `\0${readProcFile(pid, 'environ')}`.includes(text));
}

/** The processes that were started with these words at the end of their command line. */
export function findProcessesByArguments(...words: readonly string[]): number[] {
  const end = `\0${words.join('\0')}\0`;
  return findLiving((pid) => readProcFile(pid, 'cmdline').endsWith(end));
}

function findLiving(isWanted: (pid: number) => boolean): number[] {
  return listLiving()
    .map(({ pid }) => pid)
    .filter(isWanted);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone, or it is not ours to end: the next look tells.
  }
}
