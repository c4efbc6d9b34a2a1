import { Socket } from 'node:net';
import { applyPipedEnvironment } from '../api/client/start-daemon.ts';
import { findStateDir } from '../api/state-folder.ts';
import { readRestartTimes } from './restart-times.ts';
import { DAEMON_PIPE_FD, GOODBYE } from './start-watchdog.ts';
import { restartDaemon } from './watch.ts';

/** The watchdog's program; it exits when the daemon stops properly, or when another daemon runs. */
applyPipedEnvironment();
for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(name, () => {});
let received = '';
const line = new Socket({ fd: DAEMON_PIPE_FD, readable: true, writable: false });
line.setEncoding('utf8');
line.on('data', (piece: string) => (received = `${received}${piece}`.slice(-GOODBYE.length)));
line.on('error', () => {});
line.on('close', () => {
  if (received === GOODBYE) process.exit(0);
  const { env } = process;
  void restartDaemon({ stateDir: findStateDir(env), env: { ...env }, times: readRestartTimes(env) }).then(() =>
    process.exit(0),
  );
});
