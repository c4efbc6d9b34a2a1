import { readStatus } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { object, text } from '../../protocol/shape/build-shape.ts';
import { allStatuses } from './all-statuses-shape.ts';
import { lookOf } from './paint.ts';
import { renderStatus } from './render-status.ts';

export const statusCommand: CliCommand = {
  examples: ['baton status', 'baton status --watch', 'baton status --all', 'baton status --fleet'],
  args: [],
  options: [
    { name: 'watch', short: 'w', about: 'Keep showing changes; q quits' },
    { name: 'all', short: 'a', about: 'Show every repository of the state folder' },
    { name: 'fleet', about: 'Show the hosts, too' },
    ...COMMON_OPTIONS,
  ],
  json: [
    { result: 'status_get' },
    { when: '--watch', lines: true, result: 'status_get' },
    {
      when: '--watch',
      lines: true,
      shape: object({ away: { ...text, about: 'Why the daemon does not answer.' }, code: text, hint: text }),
    },
    { when: '--all', shape: allStatuses },
  ],
  exitCodes: {
    0: 'shown',
    1: 'the daemon does not run or answer, or a repository cannot be read',
    130: 'interrupted with Ctrl-C',
  },
  async run(given, io) {
    if (given.options.has('all')) {
      const other = ['watch', 'fleet', 'project'].find((name) => given.options.has(name));
      if (other !== undefined) return { usage: `--all and --${other} exclude each other` };
      const { showAllStatuses } = await import('./all-projects.ts');
      return showAllStatuses(given, io);
    }
    if (given.options.has('watch')) {
      const { watchStatus } = await import('./watch.ts');
      return watchStatus(given, io);
    }
    const answer = await readStatus(given, io);
    if (!answer.ok) return reportError(answer.error, given, io);
    if (given.options.has('json')) io.out(`${JSON.stringify(answer.result)}\n`);
    else {
      const lines = renderStatus(answer.result, { ...lookOf(io), now: new Date(answer.result.at) });
      io.out(`${lines.join('\n')}\n`);
      if (given.options.has('fleet')) {
        const { renderFleetSection } = await import('../host/render-fleet.ts');
        io.out(renderFleetSection(answer.result.fleet));
      }
    }
    return EXIT.ok;
  },
};
