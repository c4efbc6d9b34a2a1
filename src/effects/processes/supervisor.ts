import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileAtomically } from '../../api/files.ts';
import { allowedEnvironment } from '../../protocol/environment.ts';
import { isDiskFaultText, isShortageText } from '../../protocol/resource-faults.ts';
import { EXIT_NO_ROOM, type Launch, SECRET_PREFIX } from '../../supervisor/contract.ts';
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
  /** Undefined if the start was cancelled. */
  readonly settling: FoundStart | undefined;
}

/** A supervisor that ended before it took the start has run nothing. Another one is started, a few times. */
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
 * Throws if a supervisor gave up the start for lack of resources. Nothing was run, so the effect is retried later. The
 * output of an earlier daemon's supervisor is not available, but it gives up a start for no other reason.
 */
export function refuseWithoutRoom({ found, lastOutput = START_RETURNED }: FoundStart): void {
  const isRoom = isShortageText(lastOutput) || isDiskFaultText(lastOutput);
  if (found.kind === 'untaken' && isRoom) throw Object.assign(new Error(lastOutput), { code: 'EAGAIN' });
}

const START_RETURNED = 'EAGAIN: a supervisor had no room for its files and did not start its program';
const TRIES = 3;

export interface SpawnedSupervisor {
  /** Resolves with the supervisor's last output when it has ended. */
  readonly ended: Promise<string>;
}

interface SpawnOptions {
  readonly programs: Programs;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project's secrets by name. The supervisor gets those that its sandbox injects. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/**
 * Writes the launch file, then starts the supervisor, detached from the daemon. The supervisor gets no more of the
 * daemon's environment than its child, because a process can read the environment of any process of the same user.
 */
function spawnSupervisor(
  files: SupervisedFiles,
  launch: Launch,
  { programs, env, secrets = {} }: SpawnOptions,
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
      // Not the project's folder: a supervisor must not prevent the removal of a worktree.
      cwd: launch.state_dir,
      env: { ...passed, ...injectedSecrets(launch, secrets) },
      detached: true,
      stdio: ['ignore', log, log],
    });
    return followChild(child, files);
  } finally {
    closeSync(log);
  }
}

function injectedSecrets({ sandbox }: Launch, secrets: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set(sandbox?.network.inject.map(({ secret }) => secret));
  const known = Object.entries(secrets).filter(([name]) => names.has(name));
  return Object.fromEntries(known.map(([name, value]) => [`${SECRET_PREFIX}${name}`, value]));
}

/** Omits variables that the launch sets. The list is bounded. */
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

/** Reported instead of the log, which may be incomplete if the disk is full. */
const NO_ROOM = 'ENOSPC: no space left on device for the files of a supervisor, or the limit of processes is reached';

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
  /** Undefined if an earlier daemon spawned it. */
  readonly spawned: SpawnedSupervisor | undefined;
  readonly signal: AbortSignal;
}

/** Waits until a start runs, has ended, or its supervisor has failed. Undefined if cancelled. */
export async function waitForStart(following: PollStartOptions, deadlineMs: number): Promise<FoundStart | undefined> {
  const until = performance.now() + deadlineMs;
  return pollStart(following, ({ kind }) => kind !== 'starting' || performance.now() > until);
}

/** Waits for the end of a supervised process, or of its supervisor. Undefined if cancelled. */
export async function waitForEnd(following: PollStartOptions): Promise<FoundStart | undefined> {
  return pollStart(following, ({ kind }) => kind !== 'starting' && kind !== 'running');
}

export interface FoundStart {
  readonly found: SupervisedProcess;
  /** The last output of the supervisor, if it has ended and was spawned by this daemon. */
  readonly lastOutput: string | undefined;
}

/**
 * Polls with growing delays, because supervisors normally report by themselves. Looks at once when a supervisor of this
 * daemon has ended.
 */
async function pollStart(
  { files, start, spawned, signal }: PollStartOptions,
  isOver: (found: SupervisedProcess) => boolean,
): Promise<FoundStart | undefined> {
  let lastOutput: string | undefined;
  const ended = spawned?.ended.then((output) => {
    lastOutput = output;
  });
  for (let waitMs = 50; !signal.aborted; waitMs = Math.min(waitMs * 2, 1000)) {
    const outputBefore = lastOutput;
    // A supervisor of this daemon lives until its exit event, so the process list need not be searched.
    const found = inspectSupervised(files, start, spawned !== undefined && lastOutput === undefined);
    if (isOver(found) || outputBefore !== undefined) return { found, lastOutput: outputBefore };
    const pause = sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    await Promise.race(ended === undefined ? [pause] : [pause, ended]);
  }
  return undefined;
}

/** Takes a start so that no supervisor runs it. Returns false if a supervisor has taken it. */
export function preventStart(files: SupervisedFiles, start: number): boolean {
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  return claimStartFile(files.taken(start), 'nobody\n');
}
