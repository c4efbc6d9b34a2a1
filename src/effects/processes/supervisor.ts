import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileAtomically } from '../../api/files.ts';
import { allowedEnvironment } from '../../protocol/environment.ts';
import { isDiskFaultText, isShortageText } from '../../protocol/resource-faults.ts';
import { EXIT_NO_ROOM, type Launch } from '../../supervisor/contract.ts';
import { claimStartFile } from '../../supervisor/process/claim-start.ts';
import { type Programs, supervisorArgs } from '../../supervisor/programs.ts';
import { inspectSupervised, type SupervisedFiles, type SupervisedProcess } from './supervised.ts';

export interface StartSupervisorOptions extends SpawnOptions {
  readonly signal: AbortSignal;
  readonly startMs: number;
  readonly onSpawned?: (spawned: SpawnedSupervisor) => void;
}

export interface StartedSupervisor {
  readonly spawned: SpawnedSupervisor;
  /** Undefined where it was called off. */
  readonly settling: FoundStart | undefined;
}

/**
 * Starts a supervisor, and waits until what it supervises runs. One that ended before it took the start, because it was killed or there was no
 * memory, has run nothing: another is started in its place, a few times.
 */
export async function startSupervisor(
  files: SupervisedFiles,
  launch: Launch,
  { signal, startMs, onSpawned, ...options }: StartSupervisorOptions,
): Promise<StartedSupervisor> {
  for (let left = TRIES - 1; ; left -= 1) {
    const spawned = spawnSupervisor(files, launch, options);
    onSpawned?.(spawned);
    const settling = await waitForStart({ files, start: launch.start, spawned, signal }, startMs);
    if (settling?.found.kind !== 'untaken') return { spawned, settling };
    refuseWithoutRoom(settling);
    if (left === 0) return { spawned, settling };
  }
}

/**
 * Throws if a supervisor gave the start back for want of room: nothing was run, and nothing is wrong with what was to be run, so that the effect is
 * tried again later. A supervisor of an earlier daemon, whose words nobody heard, gives a start back for no other reason.
 */
export function refuseWithoutRoom({ found, words = START_RETURNED }: FoundStart): void {
  const isRoom = isShortageText(words) || isDiskFaultText(words);
  if (found.kind === 'untaken' && isRoom) throw Object.assign(new Error(words), { code: 'EAGAIN' });
}

const START_RETURNED = 'EAGAIN: a supervisor had no room for its files, and gave the start back';
const TRIES = 3;

/** A supervisor that this process has started: its end is heard of at once. */
export interface SpawnedSupervisor {
  /** Resolves when it has ended, with what it said last. */
  readonly ended: Promise<string>;
}

export interface SpawnOptions {
  readonly programs: Programs;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Writes down what is to be run, then starts the supervisor that runs it. Neither the supervisor nor its child ends with the daemon. Everything
 * that Baton starts for others passes here: the supervisor gets no more of the daemon's environment than its child may have, since a process
 * of the same user can read its parent's.
 */
export function spawnSupervisor(
  files: SupervisedFiles,
  launch: Launch,
  { programs, env }: SpawnOptions,
): SpawnedSupervisor {
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  const { passed, dropped } = allowedEnvironment(env, launch.env_pass);
  writeFileAtomically(
    files.launch(launch.start),
    `${JSON.stringify({ ...launch, env_dropped: namesOf(dropped, launch) })}\n`,
  );
  const log = openSync(supervisorLogPath(files), 'a', 0o600);
  try {
    const child = spawn(process.execPath, supervisorArgs(programs, files.folder, launch.start), {
      // Not the project's folder: a supervisor must not keep a worktree from being removed.
      cwd: launch.state_dir,
      env: passed,
      detached: true,
      stdio: ['ignore', log, log],
    });
    return followChild(child, files);
  } finally {
    closeSync(log);
  }
}

/** What the launch sets by itself is not missing. Bounded, whatever the environment holds. */
function namesOf(dropped: readonly string[], { env }: Launch): readonly string[] {
  const missing = dropped.filter((name) => !(name in env) && name !== 'BATON_STATE_DIR');
  return missing.slice(0, 200).map((name) => name.slice(0, 100));
}

function followChild(child: ChildProcess, files: SupervisedFiles): SpawnedSupervisor {
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => {
      if (code === EXIT_NO_ROOM) resolve(NO_ROOM);
      else resolve(lastWords(files) || `it ended with ${signal ?? `exit code ${code}`}`);
    });
  });
  child.unref();
  return { ended };
}

/** The log of a supervisor without room may lack its words, or end with those of another one. */
const NO_ROOM = 'ENOSPC: no space left on device for the files of a supervisor, or the machine is short of processes';

/** Where a supervisor that fails says why. */
function supervisorLogPath({ folder }: SupervisedFiles): string {
  return join(folder, 'supervisor.log');
}

function lastWords(files: SupervisedFiles): string {
  try {
    return readFileSync(supervisorLogPath(files), 'utf8').trim().split('\n').at(-1)?.slice(0, 500) ?? '';
  } catch {
    return '';
  }
}

export interface PollStartOptions {
  readonly files: SupervisedFiles;
  readonly start: number;
  /** Undefined where an earlier daemon started the supervisor. */
  readonly spawned: SpawnedSupervisor | undefined;
  readonly signal: AbortSignal;
}

/** What becomes of a start: it runs, it has ended, or its supervisor has failed. Undefined where it was called off. */
export async function waitForStart(following: PollStartOptions, deadlineMs: number): Promise<FoundStart | undefined> {
  const until = performance.now() + deadlineMs;
  return pollStart(following, ({ kind }) => kind !== 'starting' || performance.now() > until);
}

/** The end of a supervised process, or of its supervisor. Undefined where it was called off. */
export async function waitForEnd(following: PollStartOptions): Promise<FoundStart | undefined> {
  return pollStart(following, ({ kind }) => kind !== 'starting' && kind !== 'running');
}

export interface FoundStart {
  readonly found: SupervisedProcess;
  /** What the supervisor said last, where it has ended and was ours. */
  readonly words: string | undefined;
}

/**
 * Supervisors say themselves how it goes, and then whatever we wait for is settled: looking at the folder is for the case that
 * they cannot. So it is looked at less and less often, and at once where a supervisor of ours has ended.
 */
async function pollStart(
  { files, start, spawned, signal }: PollStartOptions,
  isOver: (found: SupervisedProcess) => boolean,
): Promise<FoundStart | undefined> {
  let words: string | undefined;
  const ended = spawned?.ended.then((said) => {
    words = said;
  });
  for (let waitMs = FIRST_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LAST_MS)) {
    const saidLast = words;
    // Our own supervisor is known to be there until we hear of its end: no need to look for it among all processes.
    const found = inspectSupervised(files, start, spawned !== undefined && words === undefined);
    if (isOver(found) || saidLast !== undefined) return { found, words: saidLast };
    const pause = sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race(ended === undefined ? [pause] : [pause, ended]);
  }
  return undefined;
}

const FIRST_MS = 50;
const LAST_MS = 1000;

/** Takes a start for ourselves, so that no supervisor runs it any more. Returns false if one has it. */
export function preventStart(files: SupervisedFiles, start: number): boolean {
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  return claimStartFile(files.taken(start), 'nobody\n');
}
