import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { ENVIRONMENT_FD, pipesOf, splitEnvironment } from '../api/client/start-daemon.ts';
import { longerDelay, readRestartTimes } from './restart-times.ts';

/** The pipe that closes when the daemon exits, and the line that a daemon writes to it before a regular stop. */
export const DAEMON_PIPE_FD = 3;
export const GOODBYE = 'goodbye\n';

export interface Watchdog {
  /** Ends the watchdog without a restart, because the daemon stops. Resolves when the watchdog has exited. */
  dismiss(): Promise<void>;
}

export interface WatchdogOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onLost: (reason: string) => void;
}

/** Starts the daemon's watchdog, and restarts the watchdog with growing delays if it exits. */
export function startWatchdog({ stateDir, env, onLost }: WatchdogOptions): Watchdog {
  const times = readRestartTimes(env);
  const { firstMs, steadyMs } = times;
  let child: ChildProcess | undefined;
  let delayMs = firstMs;
  let isDismissed = false;
  let again: NodeJS.Timeout | undefined;
  const begin = (): void => {
    const startedMs = performance.now();
    child = spawnWatchdog(stateDir, env);
    const onEnd = (reason: string): void => {
      if (isDismissed) return;
      onLost(reason);
      delayMs = performance.now() - startedMs >= steadyMs ? firstMs : longerDelay(delayMs, times);
      again = setTimeout(begin, delayMs).unref();
    };
    child?.once('error', ({ message }) => onEnd(message));
    child?.once('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
  };
  begin();
  return {
    async dismiss() {
      isDismissed = true;
      clearTimeout(again);
      const pipe = child === undefined ? undefined : pipesOf(child)[DAEMON_PIPE_FD];
      if (!(pipe instanceof Writable)) return;
      await new Promise<void>((resolve) => {
        pipe.once('error', () => resolve());
        pipe.end(GOODBYE, () => resolve());
      });
      // After `baton down`, no process of Baton may run in the state folder.
      if (child !== undefined) await hasEnded(child);
    },
  };
}

/** Resolves when the process has exited, or after a timeout, so that a hung watchdog does not delay the daemon. */
async function hasEnded(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    setTimeout(resolve, STOP_GRACE_MS);
  });
}

const STOP_GRACE_MS = 2000;

/** A clone runs the source; a release has a bundle. */
const ENTRY = ['watchdog/main.ts', 'watchdog.cjs'].map((path) => join(import.meta.dirname, '..', path));

function spawnWatchdog(stateDir: string, env: WatchdogOptions['env']): ChildProcess | undefined {
  const entry = ENTRY.find((path) => existsSync(path));
  if (entry === undefined) return undefined;
  const { shown, piped } = splitEnvironment(env);
  // The watchdog mostly waits: without JIT it needs a fifth less memory. Source files need the compiler.
  const flags = entry.endsWith('.ts') ? ['--disable-warning=ExperimentalWarning'] : ['--jitless'];
  const child = spawn(process.execPath, [...flags, entry, stateDir], {
    cwd: stateDir,
    env: { ...shown, BATON_STATE_DIR: stateDir, BATON_ENVIRONMENT_FD: String(ENVIRONMENT_FD) },
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const stdio = pipesOf(child);
  const [pipe, life] = [stdio[ENVIRONMENT_FD], stdio[DAEMON_PIPE_FD]];
  for (const each of [pipe, life]) if (each instanceof Writable) each.on('error', () => undefined);
  if (pipe instanceof Writable) pipe.end(piped);
  child.unref();
  // The pipe must not keep the daemon alive.
  unref(life);
  return child;
}

function unref(stream: unknown): void {
  if (typeof stream === 'object' && stream !== null && 'unref' in stream && typeof stream.unref === 'function')
    stream.unref();
}
