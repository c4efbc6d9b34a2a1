import { existsSync } from 'node:fs';
import type { Answer, ApiError } from '../../api/answer.ts';
import type { OpenedPage } from '../../api/operations/pages.ts';
import { belowSessionError, findSessionAbove } from '../../api/session-above.ts';
import { findStateDir, readDaemonRecord } from '../../api/state-folder.ts';
import { object, text } from '../../protocol/shape/build-shape.ts';
import { callOperation, withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { findProjectDir } from '../runbook/runbook.ts';
import { printable } from '../text.ts';
import { type BrowserResult, openBrowser } from './open-browser.ts';

export const webCommand: CliCommand = {
  examples: ['baton web', 'baton web --no-open', 'baton web --no-token'],
  args: [],
  options: [
    { name: 'no-open', about: 'Print the address, and open no browser' },
    { name: 'no-token', about: 'Print the address without a code, for a page that was opened before' },
    ...COMMON_OPTIONS,
  ],
  operation: 'page_open',
  json: [{ result: 'page_open' }, { when: '--no-token', shape: object({ url: text }) }],
  async run(given, io) {
    const isJson = given.options.has('json');
    if (given.options.has('no-token')) {
      const url = await findAddress(given, io);
      if (!url.ok) return reportError(url.error, given, io);
      io.out(isJson ? `${JSON.stringify(url.result)}\n` : `${url.result.url}\n`);
      return EXIT.ok;
    }
    const refusal = findWebRefusal(findStateDir(io.env), io);
    const answer = refusal === undefined ? await callOperation('page_open', {}, given, io) : refused(refusal);
    if (!answer.ok) return reportError(answer.error, given, io);
    io.out(isJson ? `${JSON.stringify(answer.result)}\n` : `${answer.result.url}\n`);
    if (isJson) return EXIT.ok;
    const opened = given.options.has('no-open') ? undefined : await openBrowser(answer.result.url, io);
    io.err(describeOpened(answer.result, opened));
    return EXIT.ok;
  },
};

/** Returns the page's address without a code. It may appear in logs, because it grants no access. */
async function findAddress(given: ParsedArguments, io: Io): Promise<Answer<{ readonly url: string }>> {
  const health = await withClient(given, io, async (client) => client.health());
  if (!health.ok) return health;
  const project = await findProjectDir(given, io);
  const place = new URLSearchParams({ project: existsSync(project) ? project : '' });
  const port = readDaemonRecord(findStateDir(io.env))?.port ?? 0;
  return { ok: true, result: { url: `http://127.0.0.1:${port}/#${place.toString()}` } };
}

export function describeOpened({ port_moved: moved }: OpenedPage, opened: BrowserResult | undefined): string {
  const isFailed = opened?.ok === false;
  const lines = [
    opened?.ok === true
      ? 'Your browser opens the page. The address works once, within 60 seconds.'
      : `Open the address in your browser. It works once, within 60 seconds.`,
    ...(isFailed ? [`No browser was opened: ${opened.reason}`] : []),
    ...(moved === null ? [] : [describeMove(moved)]),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function describeMove({ from, to, taken_by }: NonNullable<OpenedPage['port_moved']>): string {
  const by = taken_by ?? 'another program, which the system does not name';
  return `Note: port ${from} of the page is taken by ${by}. The page has port ${to} from now on. The keys of pages that were open are revoked.`;
}

function refused(error: ApiError): Answer<never> {
  return { ok: false, error };
}

/** The code makes a browser act as the operator, so only an operator may get it. */
function findWebRefusal(stateDir: string, { env }: Io): ApiError | undefined {
  const above = findSessionAbove(stateDir, env);
  if (above !== undefined) return belowSessionError(above);
  return /^[saw]\./.test(env['BATON_TOKEN'] ?? '') ? NOT_AN_OPERATOR : undefined;
}

const NOT_AN_OPERATOR: ApiError = {
  code: 'forbidden',
  message: "the address lets a browser act as the operator, but BATON_TOKEN is not the operator's token",
  hint: 'Run baton web in a terminal outside the session, or print the address without a code: baton web --no-token',
};
