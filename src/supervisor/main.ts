import { supervise } from './supervise.ts';

/** `node PROGRAM FOLDER START`: the supervisor of one process. Started by the daemon, and not stopped by its end. */
const [folder, start] = process.argv.slice(2);
if (folder === undefined || !/^\d+$/.test(start ?? '')) {
  process.stderr.write('Error: this program is started by the daemon, with a folder and a number\n');
  process.exit(2);
}
// Its log may be on a full disk: a line that cannot be written must not end this.
process.stderr.on('error', () => {});
// Nobody else answers the agent's hooks, and without an answer they would let it go: one failure must not end this.
process.on('uncaughtException', (error) => process.stderr.write(`${new Date().toISOString()} ${error.stack}\n`));
for (const name of ['SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(name, () => {});
supervise(folder, Number(start)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`Error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(70);
  },
);
