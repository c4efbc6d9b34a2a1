import { initStore } from '../../ledger/postgres/init-store.ts';
import { flag, list, object, text } from '../../protocol/shape/build-shape.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { JSON_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { printable } from '../text.ts';

export const storeInitCommand: CliCommand = {
  examples: [
    'baton store init postgres://postgres@db.example/baton',
    'baton store init URL --database-role baton_shop',
  ],
  args: [{ name: 'URL', about: 'The database, as the role that owns it: postgres://OWNER@HOST:PORT/DATABASE' }],
  options: [
    {
      name: 'database-role',
      formerly: ['--role'],
      value: 'NAME',
      about: 'The role of the daemons; it is created if it does not exist (default: baton)',
    },
    JSON_OPTION,
  ],
  json: [
    {
      shape: object({
        url: { ...text, about: 'The address for `store` of the runbook.' },
        role_is_new: { ...flag, about: 'The role of the daemons did not exist before.' },
        next_steps: { ...list(text), about: 'What to do next, in sentences.' },
      }),
    },
  ],
  async run({ args: [url = ''], options }, io) {
    const made = await initStore(url, { role: options.get('database-role') ?? 'baton' });
    if (!made.ok) return reportProblem(made.problem, io);
    if (options.has('json')) {
      io.out(`${JSON.stringify({ url: made.url, role_is_new: made.isRoleNew, next_steps: made.nextSteps })}\n`);
      return EXIT.ok;
    }
    io.out('The schema baton and the role are ready. The role can add entries, and cannot change them.\n');
    io.out(made.nextSteps.map((step, i) => `  ${i + 1}. ${printable(step)}\n`).join(''));
    return EXIT.ok;
  },
};
