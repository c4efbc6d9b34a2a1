import { once } from 'node:events';
import { type CliCommand, EXIT } from '../command.ts';
import { reportProblem } from '../problems.ts';
import { untilInterrupted } from '../run/follow-entries.ts';
import { openBrowser } from '../web/open-browser.ts';
import { serveSite } from './serve-site.ts';
import { buildSite, hasPages } from './site/build-site.ts';

export const docsCommand: CliCommand = {
  examples: ['baton docs', 'baton docs --port 8080 --no-open'],
  args: [],
  options: [
    { name: 'port', value: 'N', about: 'The port on 127.0.0.1 (default: a free port)' },
    { name: 'no-open', about: 'Print the address, and open no browser' },
  ],
  exitCodes: { 0: 'ended with Ctrl-C', 1: 'cannot be served', 2: 'usage error' },
  async run({ options }, io) {
    const port = Number(options.get('port') ?? 0);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return { usage: '--port takes a number from 1 to 65535' };
    if (!hasPages()) return reportProblem(MISSING, io);
    using interrupt = untilInterrupted();
    const served = await serveSite(buildSite(), port);
    if (!served.ok) return reportProblem(served.problem, io);
    await using _server = served.value;
    io.out(`${served.value.url}\n`);
    const opened = options.has('no-open') ? undefined : await openBrowser(served.value.url, io);
    io.err(
      opened?.ok === true
        ? 'Your browser opens the documentation. Stop serving it with Ctrl-C.\n'
        : 'Open the address in your browser. Stop serving it with Ctrl-C.\n',
    );
    if (!interrupt.signal.aborted) await once(interrupt.signal, 'abort');
    return EXIT.ok;
  },
};

const MISSING = {
  code: 'docs-missing',
  message: 'this installation of Baton has no documentation',
  hint: 'Reinstall Baton.',
};
