import { existsSync } from 'node:fs';
import type { ApiError } from '../api/answer.ts';
import { belowSessionError, findSessionAbove } from '../api/session-above.ts';
import { findStateDir, readDaemonRecord, readToken } from '../api/state-folder.ts';
import { withClient } from './ask.ts';
import { type CliCommand, EXIT, type Io } from './command.ts';
import { COMMON_OPTIONS, reportError } from './operation-command.ts';
import { findProjectDir } from './runbook/runbook.ts';

export const webCommand: CliCommand = {
  examples: ['baton web', 'baton web --no-token'],
  args: [],
  options: [
    { name: 'no-token', about: 'Print the address without the token; the page asks for it' },
    ...COMMON_OPTIONS,
  ],
  async run(given, io) {
    const health = await withClient(given, io, async (client) => client.health());
    if (!health.ok) return reportError(health.error, given, io);
    const stateDir = findStateDir(io.env);
    const record = readDaemonRecord(stateDir);
    const wantsToken = !given.options.has('no-token');
    const refusal = wantsToken ? findWebRefusal(stateDir, io) : undefined;
    if (refusal !== undefined) return reportError(refusal, given, io);
    const token = wantsToken ? readToken(stateDir, 'operator') : undefined;
    const project = await findProjectDir(given, io);
    // After the #: a browser does not send that part, so that the token gets into no log.
    const known = { project: existsSync(project) ? project : '', ...(token === undefined ? {} : { token }) };
    const url = `http://127.0.0.1:${record?.port ?? 0}/#${new URLSearchParams(known).toString()}`;
    io.out(given.options.has('json') ? `${JSON.stringify({ url })}\n` : `${url}\n`);
    return EXIT.ok;
  },
};

/** The address contains the operator's token, so only an operator may get it. */
function findWebRefusal(stateDir: string, { env }: Io): ApiError | undefined {
  const above = findSessionAbove(stateDir, env);
  if (above !== undefined) return belowSessionError(above);
  return /^[saw]\./.test(env['BATON_TOKEN'] ?? '') ? NOT_AN_OPERATOR : undefined;
}

const NOT_AN_OPERATOR: ApiError = {
  code: 'forbidden',
  message: "the address contains the operator's token, and BATON_TOKEN is not an operator's",
  hint: 'Run it in a terminal outside the session, or without the token: baton web --no-token',
};
