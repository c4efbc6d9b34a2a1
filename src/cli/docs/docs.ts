import { once } from 'node:events';
import { type CliCommand, EXIT } from '../command.ts';
import { wholeOption } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { untilInterrupted } from '../run/follow-entries.ts';
import { openBrowser } from '../web/open-browser.ts';
import { findPage } from './find-page.ts';
import { serveSite } from './serve-site.ts';
import { buildSite, hasPages } from './site/build-site.ts';

export const docsCommand: CliCommand = {
  examples: ['baton docs', 'baton docs tutorial', 'baton docs --port 8080 --no-open'],
  args: [{ name: 'PAGE', optional: true, about: 'The page to open, such as tutorial or guides/ci' }],
  options: [
    { name: 'port', value: 'N', about: 'The port on 127.0.0.1 (default: a free port)' },
    { name: 'no-open', about: 'Print the address, and open no browser' },
  ],
  exitCodes: { 0: 'ended with Ctrl-C', 1: 'cannot be served', 2: 'usage error' },
  async run(given, io) {
    const { args, options } = given;
    const port = wholeOption(given, 'port', { from: 1, to: 65_535 });
    if ('usage' in port) return port;
    if (!hasPages()) return reportProblem(MISSING, io);
    const site = buildSite();
    const page = args[0] === undefined ? undefined : findPage(args[0], site.keys());
    if (page?.ok === false) return { usage: page.message };
    using interrupt = untilInterrupted();
    const served = await serveSite(site, port.value ?? 0);
    if (!served.ok) return reportProblem(served.problem, io);
    await using _server = served.value;
    const url = `${served.value.url}${page?.path ?? ''}`;
    io.out(`${url}\n`);
    const opened = options.has('no-open') ? undefined : await openBrowser(url, io);
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
