import { join } from 'node:path';
import { clearDownIntent } from '../../api/down-intent.ts';
import { findDaemon } from '../../api/client/reach.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { EXIT, type Io } from '../command.ts';
import { installService, uninstallService, type ServiceHost } from './install-service.ts';

/** `baton up --install-service` and its opposite: changes one file, and says which, and what to type next. */
export async function changeService(what: 'install' | 'uninstall', io: Io): Promise<number> {
  const host: ServiceHost = { platform: process.platform, node: process.execPath, baton: BATON, env: io.env };
  const done = what === 'install' ? installService(host) : uninstallService(host);
  if (!done.ok) {
    io.err(`Error: ${done.error.message}\n  hint: ${done.error.hint}\n`);
    return EXIT.failed;
  }
  const { path, enable, disable } = done.file;
  if (done.did === 'absent') io.out(`There is no service file at ${path}.\n`);
  else if (done.did === 'removed') io.out(`Removed ${path}.\nIf it was enabled, stop it with: ${disable}\n`);
  else io.out(describeChange(path, enable, disable, await isDaemonUp(io)));
  return EXIT.ok;
}

/** Whether a daemon runs. If none does, an earlier `baton down` must not keep the service from starting one. */
async function isDaemonUp({ env }: Io): Promise<boolean> {
  const stateDir = findStateDir(env);
  const connection = await findDaemon(stateDir);
  connection?.close();
  if (connection === undefined) clearDownIntent(stateDir);
  return connection !== undefined;
}

function describeChange(path: string, enable: string, disable: string, isRunning: boolean): string {
  const first = isRunning ? 'baton down && baton up --install-service && ' : '';
  return [
    `Wrote ${path}.`,
    'The service runs the daemon at login and starts it again after a crash, but not after baton down.',
    'It has your PATH and no other variable: add the keys that your agents need to the service.',
    `  start it: ${first}${enable}`,
    `  undo:     ${disable}; baton up --uninstall-service`,
    '',
  ].join('\n');
}

/** In a clone and in a release the command is two folders above this one's room. */
const BATON = join(import.meta.dirname, '..', '..', '..', 'bin', 'baton.cjs');
