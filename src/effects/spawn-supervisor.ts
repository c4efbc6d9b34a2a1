import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from '../api/write-whole.ts';
import type { Launch } from '../supervisor/contract.ts';
import type { SupervisedFiles } from './supervised.ts';

/** In a clone the source runs as it stands; a release has a bundle. */
const PROGRAM = ['supervisor/main.ts', 'supervisor.cjs'].map((path) => join(import.meta.dirname, '..', path));

/** Writes down what is to be run, then starts the supervisor that runs it. Neither it nor its child ends with the daemon. */
export function spawnSupervisor(
  files: SupervisedFiles,
  launch: Launch,
  env: Readonly<Record<string, string | undefined>>,
): Spawned {
  const program = PROGRAM.find((path) => existsSync(path));
  if (program === undefined) throw new Error("the supervisor's program is missing");
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  writeWhole(files.launch(launch.start), `${JSON.stringify(launch)}\n`);
  const log = openSync(wordsOf(files), 'a', 0o600);
  try {
    const child = spawn(process.execPath, [...FLAGS, program, files.folder, String(launch.start)], {
      cwd: dirname(files.folder),
      env: { ...env, NODE_COMPILE_CACHE: join(launch.state_dir, 'cache') },
      detached: true,
      stdio: ['ignore', log, log],
    });
    return followChild(child, files);
  } finally {
    closeSync(log);
  }
}

/** A supervisor that this process has started: its end is heard of at once. */
export interface Spawned {
  /** Resolves when it has ended, with what it said last. */
  readonly ended: Promise<string>;
}

const FLAGS = ['--disable-warning=ExperimentalWarning'];

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
