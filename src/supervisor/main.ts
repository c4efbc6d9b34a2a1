import { supervise } from './supervise.ts';

/**
 * `node PROGRAM FOLDER START`: the supervisor of one process. The daemon starts it, and it continues if the daemon
 * stops.
 */
const [folder, start] = process.argv.slice(2);
if (folder === undefined || !/^\d+$/.test(start ?? '')) {
  process.stderr.write('Error: this program is started by the daemon, with a folder and a start number\n');
  process.exit(2);
}
// The log may be on a full disk: a failed write must not end the supervisor.
process.stderr.on('error', () => {});
// Without a supervisor the hooks would let the agent stop, so an internal error must not end the supervisor.
process.on('uncaughtException', (error) => process.stderr.write(`${new Date().toISOString()} ${error.stack}\n`));
for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(name, () => {});
supervise(folder, Number(start)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(70);
  },
);
