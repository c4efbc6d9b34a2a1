import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../api/write-whole.ts';
import type { Launch } from '../supervisor/contract.ts';
import { supervisorArgs, type Programs } from '../supervisor/programs.ts';
import type { SupervisedFiles } from './supervised.ts';

/** A supervisor that this process has started: its end is heard of at once. */
export interface Spawned {
  /** Resolves when it has ended, with what it said last. */
  readonly ended: Promise<string>;
}

export interface SpawnOptions {
  readonly programs: Programs;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Writes down what is to be run, then starts the supervisor that runs it. Neither it nor its child ends with the daemon. */
export function spawnSupervisor(files: SupervisedFiles, launch: Launch, { programs, env }: SpawnOptions): Spawned {
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  writeWhole(files.launch(launch.start), `${JSON.stringify(launch)}\n`);
  const log = openSync(wordsOf(files), 'a', 0o600);
  try {
    const child = spawn(process.execPath, supervisorArgs(programs, files.folder, launch.start), {
      // Not the project's folder: a supervisor must not keep a worktree from being removed.
      cwd: launch.state_dir,
      env: { ...env },
      detached: true,
      stdio: ['ignore', log, log],
    });
    return followChild(child, files);
  } finally {
    closeSync(log);
  }
}

function followChild(child: ChildProcess, files: SupervisedFiles): Spawned {
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('exit', (code, signal) => resolve(lastWords(files) || `it ended with ${signal ?? `exit code ${code}`}`));
  });
  child.unref();
  return { ended };
}

/** Where a supervisor that fails says why. */
function wordsOf({ folder }: SupervisedFiles): string {
  return join(folder, 'supervisor.log');
}

function lastWords(files: SupervisedFiles): string {
  try {
    return readFileSync(wordsOf(files), 'utf8').trim().split('\n').at(-1)?.slice(0, 500) ?? '';
  } catch {
    return '';
  }
}
