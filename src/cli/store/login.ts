import { createLogin } from '../../ledger/postgres/create-login.ts';
import { HOST_NAME } from '../../protocol/fleet.ts';
import { flag, object, text } from '../../protocol/shape/build-shape.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { findLedger } from '../ledger/find-ledger.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';

export const storeLoginCommand: CliCommand = {
  examples: ['baton store login postgres://postgres@db.example/baton beta'],
  args: [
    { name: 'URL', about: 'The database, as the role that owns it: postgres://OWNER@HOST:PORT/DATABASE' },
    { name: 'HOST', about: 'The name of the host, as in baton host list' },
  ],
  options: [PROJECT_OPTION, JSON_OPTION],
  exitCodes: { 0: 'the login can be used', 1: 'it could not be created' },
  json: [
    {
      shape: object({
        role: { ...text, about: 'The role that the host logs in as.' },
        url: { ...text, about: 'The address of the database with that role.' },
        is_new: { ...flag, about: 'The role did not exist before.' },
      }),
    },
  ],
  async run(given, io) {
    const [url = '', host = ''] = given.args;
    if (!HOST_NAME.test(host)) return { usage: `${JSON.stringify(host)} is not the name of a host` };
    const ledger = await findLedger(given, io);
    if (!ledger.ok) return reportProblem(ledger.problem, io);
    const made = await createLogin(url, { project: ledger.found.id, host });
    if (!made.ok) return reportProblem(made.problem, io);
    if (given.options.has('json')) {
      io.out(`${JSON.stringify({ role: made.role, url: made.url, is_new: made.isNew })}\n`);
      return EXIT.ok;
    }
    const steps = [
      `Set its password in psql: \\password ${made.role}`,
      `On ${host} set PGUSER=${made.role} for the daemon, put the password into ~/.pgpass, and leave the user out of \`store\` in baton.toml`,
    ];
    io.out(`Host ${printable(host)} logs in as ${printable(made.role)}, which reads and writes this project only.\n`);
    io.out(steps.map((step, i) => `  ${i + 1}. ${printable(step)}\n`).join(''));
    return EXIT.ok;
  },
};
