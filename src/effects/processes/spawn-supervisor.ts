import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../api/files.ts';
import { allowedEnvironment } from '../../protocol/environment.ts';
import { EXIT_NO_ROOM, type Launch } from '../../supervisor/contract.ts';
import { supervisorArgs, type Programs } from '../../supervisor/programs.ts';
import type { SupervisedFiles } from './supervised.ts';

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
