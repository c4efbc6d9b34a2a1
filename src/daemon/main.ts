import { closeSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { applyPipedEnvironment, EXIT_DAEMON_RUNNING } from '../api/client/start-daemon.ts';
import { findStateDir, stateFiles } from '../api/state-folder.ts';
import { isRestartEnabled } from '../watchdog/restart-times.ts';
import { startWatchdog, type Watchdog } from '../watchdog/start-watchdog.ts';
import { runDaemon } from './lifecycle.ts';
import { type Log, openLog } from './log.ts';
import { guardProcess } from './process-health.ts';

/** The daemon's program. It reports on a pipe that it listens, or why it does not. */
async function main(): Promise<void> {
  applyPipedEnvironment();
  guardProcess(openLog(stateFiles(findStateDir(process.env)).log));
  const echo = (line: string): void => void process.stderr.write(line);
  const report = openReadyReport();
  const { isInTerminal } = report;
  const isRestart = process.env['BATON_RESTARTED'] === '1';
  delete process.env['BATON_RESTARTED'];
  // In a terminal or under a service manager, its end is noticed without a watchdog.
  const isWatched = !isInTerminal && isRestartEnabled(process.env);
  let watchdog: Watchdog | undefined;
  const beforeListening = (stateDir: string, log: Log): void => {
    if (isWatched) watchdog = startWatchdogFor(stateDir, log);
  };
  const leave = async (): Promise<void> => watchdog?.dismiss();
  const started = await runDaemon({ ...(isInTerminal ? { echo } : {}), isRestart, beforeListening });
  if (!started.ok) {
    await leave();
    const { code, message, hint } = started.error;
    // A client adds its own hint. In a terminal the daemon prints its own hint, and uses the exit codes of commands.
    report.send(isInTerminal ? `Error: ${message} [${code}]\n  hint: ${hint}\n` : `${message}\n`);
    process.exit(started.isTaken && !isInTerminal ? EXIT_DAEMON_RUNNING : 1);
  }
  const { daemon } = started;
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    // A second signal ends the daemon at once. Everything that was answered is durable.
    if (signals > 1) void leave().then(() => process.exit(130));
    void daemon.stop();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', () => undefined);
  report.send('ready\n');
  flushCompileCache();
  await daemon.stopped;
  await leave();
  process.exit(0);
}

function startWatchdogFor(stateDir: string, log: Log): Watchdog {
  const onLost = (reason: string): void => log.error('the watchdog ended, and another one is started', { reason });
  return startWatchdog({ stateDir, env: process.env, onLost });
}

/** The pipe to the process that started the daemon. Child processes must not inherit it. */
function openReadyReport(): { readonly isInTerminal: boolean; readonly send: (line: string) => void } {
  const { BATON_READY_FD: fd } = process.env;
  delete process.env['BATON_READY_FD'];
  delete process.env['NODE_COMPILE_CACHE'];
  const send = (line: string): void => {
    try {
      writeSync(fd === undefined ? 2 : Number(fd), line);
      if (fd !== undefined) closeSync(Number(fd));
    } catch {
      // The starting process has stopped waiting.
    }
  };
  return { isInTerminal: fd === undefined, send };
}

void main();
