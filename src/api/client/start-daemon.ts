import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { allowedEnvironment, type Environment } from '../../protocol/environment.ts';
import type { ApiError } from '../answer.ts';
import { makeFolder, stateFiles } from '../state-folder.ts';

export type DaemonStart =
  | { readonly kind: 'listens' }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly error: ApiError };

export interface StartDaemonOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly deadlineMs: number;
}

/** Starts a daemon that outlives this process, and waits until it listens. Of several callers, one starts it. */
export async function startDaemon(options: StartDaemonOptions): Promise<DaemonStart> {
  const { starting } = stateFiles(options.stateDir);
  try {
    makeFolder(options.stateDir);
    if (!acquireStartLock(starting, options.deadlineMs)) return { kind: 'elsewhere' };
  } catch (error) {
    return { kind: 'failed', error: cannotStart(error instanceof Error ? error.message : String(error), NO_FOLDER) };
  }
  try {
    return await spawnDaemon(options);
  } catch (error) {
    return { kind: 'failed', error: cannotStart(error instanceof Error ? error.message : String(error)) };
  } finally {
    rmSync(starting, { force: true });
  }
}

/** The daemon writes one line to this descriptor: that it listens, or why it does not. */
const READY_FD = 3;
export const EXIT_DAEMON_RUNNING = 75;
/** A clone runs the source, a release its bundle. */
const ENTRY_FILES = ['daemon/main.ts', 'daemon.cjs'].map((path) => join(import.meta.dirname, '..', '..', path));

async function spawnDaemon({ stateDir, env, deadlineMs }: StartDaemonOptions): Promise<DaemonStart> {
  const entry = ENTRY_FILES.find((path) => existsSync(path));
  if (entry === undefined) return { kind: 'failed', error: cannotStart('its program is missing') };
  const log = openSync(stateFiles(stateDir).log, 'a', 0o600);
  // The user may have named the folder relative to another working folder.
  const { shown, piped } = splitEnvironment({ ...daemonEnvironment(env), BATON_STATE_DIR: stateDir });
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
    cwd: stateDir,
    env: {
      // Compiled code halves the start-up time. Only this user can write to the state folder.
      NODE_COMPILE_CACHE: join(stateDir, 'cache'),
      ...shown,
      BATON_STATE_DIR: stateDir,
      BATON_READY_FD: String(READY_FD),
      BATON_ENVIRONMENT_FD: String(ENVIRONMENT_FD),
    },
    detached: true,
    stdio: ['ignore', log, log, 'pipe', 'pipe'],
  });
  closeSync(log);
  const stdio = pipesOf(child);
  const pipe = pipeInto(stdio[ENVIRONMENT_FD], piped);
  const report = stdio[READY_FD];
  if (stdio.length === 0) return waitForFailure(child);
  if (!isReadable(report)) return { kind: 'failed', error: cannotStart('no pipe') };
  try {
    return await waitForReport(child, report, deadlineMs);
  } finally {
    report.destroy();
    pipe?.destroy();
    child.unref();
  }
}

/** Node creates no pipes and emits an error if no descriptor is left, contrary to its types. */
export function pipesOf({ stdio }: { readonly stdio: readonly unknown[] | undefined }): readonly unknown[] {
  return stdio ?? [];
}

async function waitForFailure(child: ReturnType<typeof spawn>): Promise<DaemonStart> {
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ kind: 'failed', error: cannotStart(message) }));
  });
}

/** A daemon that ends early reports the reason on the other pipe. */
function pipeInto(stream: unknown, text: string): Writable | undefined {
  if (!(stream instanceof Writable)) return undefined;
  stream.on('error', () => undefined);
  return stream.end(text);
}

/** Removes the variables of one session or git command, which must not reach a daemon that serves all of them. */
export function daemonEnvironment(env: StartDaemonOptions['env']): NodeJS.ProcessEnv {
  const isOurs = (name: string): boolean =>
    !/^BATON_(?:TOKEN|SESSION|AGENT_ID|COMMAND_ID|MISSION|URL)$/.test(name) &&
    !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX)$/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isOurs(name)));
}

async function waitForReport(
  child: ReturnType<typeof spawn>,
  report: Readable,
  deadlineMs: number,
): Promise<DaemonStart> {
  return new Promise((resolve) => {
    let said = '';
    const timer = setTimeout(() => {
      resolve({ kind: 'failed', error: cannotStart(`it did not listen in time (${Math.ceil(deadlineMs)} ms)`) });
    }, deadlineMs);
    const settle = (start: DaemonStart): void => {
      clearTimeout(timer);
      resolve(start);
    };
    report.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      if (said.startsWith('ready\n')) settle({ kind: 'listens' });
    });
    child.once('error', (error) => settle({ kind: 'failed', error: cannotStart(error.message) }));
    child.once('close', (code) => {
      if (code === EXIT_DAEMON_RUNNING) settle({ kind: 'elsewhere' });
      else settle({ kind: 'failed', error: cannotStart(said.trim() || `exit code ${code}`) });
    });
  });
}

/**
 * Saves other clients from starting a process each. The lock of the state folder decides which daemon runs, so a stale
 * file may be removed.
 */
function acquireStartLock(path: string, deadlineMs: number): boolean {
  for (const isSecondTry of [false, true]) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      if (isSecondTry || !isStaleLock(path, deadlineMs)) return false;
      rmSync(path, { force: true });
    }
  }
  return false;
}

function isStaleLock(path: string, deadlineMs: number): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > deadlineMs) return true;
    const pid = Number(readFileSync(path, 'utf8'));
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

function isReadable(stream: unknown): stream is Readable {
  return typeof stream === 'object' && stream !== null && 'destroy' in stream && 'read' in stream;
}

const NO_FOLDER = 'Make the state folder writable, or set BATON_STATE_DIR to another folder.';

function cannotStart(why: string, hint = 'See its messages: baton up --foreground'): ApiError {
  return { code: 'daemon-away', message: `the daemon cannot be started: ${why}`, hint };
}

/** The daemon reads the rest of its environment from this descriptor. */
export const ENVIRONMENT_FD = 4;

export interface SplitEnvironment {
  readonly shown: Readonly<Record<string, string>>;
  readonly piped: string;
}

/**
 * Splits off the secrets. Agents can read a daemon's initial environment in `/proc`, so the daemon gets its secrets
 * through a pipe.
 */
export function splitEnvironment(env: Environment): SplitEnvironment {
  const { passed: shown } = allowedEnvironment(env, READ_AT_START);
  const rest = Object.entries(env).filter(([name, value]) => value !== undefined && !(name in shown));
  return { shown, piped: JSON.stringify(Object.fromEntries(rest)) };
}

/** Node and the loader read these before Baton's code runs. */
const READ_AT_START = ['NODE_*', 'LD_*', 'DYLD_*', 'FAKETIME*', 'OPENSSL_*', 'UV_*', 'MALLOC_*', 'GLIBC_TUNABLES'];

export function applyPipedEnvironment(env: NodeJS.ProcessEnv = process.env): void {
  const fd = Number(env['BATON_ENVIRONMENT_FD'] ?? 0);
  delete env['BATON_ENVIRONMENT_FD'];
  if (fd !== ENVIRONMENT_FD) return;
  const piped: unknown = JSON.parse(readFileSync(fd, 'utf8'));
  closeSync(fd);
  for (const [name, value] of Object.entries(Object(piped))) if (typeof value === 'string') env[name] = value;
}
