import { resolve } from 'node:path';
import type { Answer } from '../api/answer.ts';
import type { Client } from '../api/client/client.ts';
import { connect, createClient } from '../api/client/connect.ts';
import { isSuspended } from '../api/client/reach.ts';
import type { OperationName, ResultOf } from '../api/operations/registry.ts';
import type { StatusView } from '../api/run-views.ts';
import { findStateDir, readDaemonRecord } from '../api/state-folder.ts';
import type { Io, ParsedArguments } from './command.ts';
import { showElapsed } from './show-elapsed.ts';

/** Calls an operation, and starts the daemon if none runs. */
export async function callOperation<N extends OperationName>(
  operation: N,
  input: unknown,
  given: ParsedArguments,
  io: Io,
): Promise<Answer<ResultOf<N>>> {
  const refused = await refuseInJudgesShell(operation, input, given, io);
  if (refused !== undefined) return refused;
  using elapsed = showElapsed(io);
  if (hasWait(input)) return await callWithNotices(operation, input, given, elapsed.io);
  using _slow = reportWhenSlow(elapsed.io);
  using _copying = reportCopyingOf(given, elapsed.io);
  return await withClient(given, io, async (client) => client.call(operation, jsonOf(input)));
}

/** A session that judges runs its shell commands without its token: only the calls of its client count. */
async function refuseInJudgesShell(
  operation: OperationName,
  input: unknown,
  given: ParsedArguments,
  { env }: Io,
): Promise<Extract<Answer, { ok: false }> | undefined> {
  if (env['BATON_JUDGE'] !== '1' || env['BATON_TOKEN'] || given.options.has('token')) return undefined;
  const { needsTool, useTheTool } = await import('../protocol/handoff/judge.ts');
  return needsTool(operation, input) ? { ok: false, error: useTheTool(operation) } : undefined;
}

/** The daemon validates the input, so that all surfaces report the same errors. */
function jsonOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

/** A user who requested to wait expects a long wait, but must be notified if the daemon does not answer. */
async function callWithNotices<N extends OperationName>(
  operation: N,
  input: unknown,
  given: ParsedArguments,
  io: Io,
): Promise<Answer<ResultOf<N>>> {
  using observer = createObserver(given, io);
  using _away = reportWhenAway(io, observer);
  using _copying = reportCopying(io, async (signal) => observer.call('status_get', {}, { signal }));
  return await withClient(given, io, async (client) => client.call(operation, jsonOf(input)));
}

/** Uses its own connection, which is opened only if a command takes long. */
function reportCopyingOf(given: ParsedArguments, io: Io): Disposable {
  let observer: Client | undefined;
  const copying = reportCopying(io, async (signal) =>
    (observer ??= createObserver(given, io)).call('status_get', {}, { signal }),
  );
  return {
    [Symbol.dispose]: () => {
      copying[Symbol.dispose]();
      observer?.close();
    },
  };
}

function hasWait(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'wait_ms' in input && input.wait_ms !== 0;
}

export async function withClient<T>(given: ParsedArguments, io: Io, use: (client: Client) => Promise<T>): Promise<T> {
  using client = suggesting(closing(await connect(clientOptions(given, io))));
  return await use(client);
}

/** Adds to errors about unknown ids the one that was probably meant. */
function suggesting<C extends Client>(client: C): C {
  const plain: Client['call'] = client.call.bind(client);
  const call: Client['call'] = async (operation, input, options) => {
    const answer = await plain(operation, input, options);
    if (answer.ok || !answer.error.code.startsWith('no-such-')) return answer;
    const { suggestId } = await import('./completion/suggest-id.ts');
    return suggestId(answer, plain);
  };
  return Object.assign(client, { call });
}

/** Lets `using` close the client. */
function closing(client: Client): Client & Disposable {
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

/** Creates a client that only reads: it starts no daemon, and returns an error if none runs. */
export function createObserver(given: ParsedArguments, io: Io, answerMs?: number): Client & Disposable {
  const options = { ...clientOptions(given, io), autostart: false };
  return closing(createClient(answerMs === undefined ? options : { ...options, answerMs }));
}

/** Creates a client that starts a daemon if none runs, and waits only briefly for each answer. */
export function createStatusClient(given: ParsedArguments, io: Io): Client & Disposable {
  return closing(createClient({ ...clientOptions(given, io), answerMs: statusTimeoutMs(io) }));
}

function clientOptions(given: ParsedArguments, io: Io) {
  const token = given.options.get('token');
  return {
    env: io.env,
    projectPath: resolve(io.cwd, given.options.get('project') ?? '.'),
    ...(token === undefined ? {} : { token }),
  };
}

/** A late status is useless, so a connected daemon gets only a few seconds. Starting one may take longer. */
export async function readStatus(given: ParsedArguments, io: Io): Promise<Answer<StatusView>> {
  using client = createStatusClient(given, io);
  const unreached = await client.reach();
  if (unreached !== undefined) return { ok: false, error: unreached };
  const answer = await client.call('status_get', {});
  if (answer.ok || answer.error.code !== 'no-answer') return answer;
  const { ok } = await client.health({ timeoutMs: HEALTH_MS });
  return ok ? busyAnswer(statusTimeoutMs(io)) : answer;
}

/** How long the daemon may take for each status: BATON_ANSWER_MS, or five seconds. */
export function statusTimeoutMs({ env }: Pick<Io, 'env'>): number {
  const ms = Number(env['BATON_ANSWER_MS']);
  return ms > 0 ? ms : 5000;
}

function busyAnswer(ms: number): Answer<never> {
  const message = `the daemon runs, but has not reported on this project within ${ms / 1000} s`;
  const hint =
    'The daemon may be opening a large project, or its ledger may be locked: see daemon.log in the state folder. Then: baton status';
  return { ok: false, error: { code: 'project-busy', message, hint } };
}

type AskStatus = (signal: AbortSignal) => Promise<Answer<Pick<StatusView, 'importing'>>>;

/** While a command waits for the first copy of a repository, reports its progress at a terminal in ten steps. */
export function reportCopying(io: Pick<Io, 'err' | 'isTerminal'>, ask: AskStatus, pollMs = 1000): Disposable {
  let reported = '';
  return poll(io.isTerminal ? pollMs : undefined, async (signal) => {
    const answer = await ask(signal);
    if (signal.aborted) return false;
    const progress = answer.ok ? answer.result.importing : null;
    if (progress !== null && stepOf(progress) !== reported) io.err(`Copying the repository: ${progress}\n`);
    if (progress !== null) reported = stepOf(progress);
    return true;
  });
}

/** Calls `check` at each interval until it returns false or the poll is disposed. */
function poll(intervalMs: number | undefined, check: (signal: AbortSignal) => Promise<boolean>): Disposable {
  const over = new AbortController();
  let timer = intervalMs === undefined ? undefined : setTimeout(run, intervalMs);
  function run(): void {
    void check(over.signal).then((goesOn) => {
      if (goesOn) timer = setTimeout(run, intervalMs);
    });
  }
  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

function stepOf(progress: string): string {
  const [, what = progress, percent = ''] = /^(.*?)(\d+)%/.exec(progress) ?? [];
  return `${what.trim()} ${percent === '' ? '' : Math.floor(Number(percent) / 10)}`;
}

/**
 * Reports once to a waiting user that the daemon has missed `MAX_MISSES` health checks in a row. A restart misses less.
 */
export function reportWhenAway(io: Io, client: Client): Disposable {
  let misses = 0;
  return poll(AWAY_POLL_MS, async (signal) => {
    const { ok } = await client.health({ signal, timeoutMs: AWAY_ANSWER_MS });
    if (signal.aborted) return false;
    misses = ok ? 0 : misses + 1;
    if (misses === MAX_MISSES) io.err(describeWait(io));
    return misses < MAX_MISSES;
  });
}

const MAX_MISSES = 2;

/** After a few seconds without an answer, reports which daemon the command waits for. */
export function reportWhenSlow(io: Io, afterMs = SLOW_MS): Disposable {
  const timer = setTimeout(() => io.err(describeWait(io)), afterMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

function describeWait({ env }: Pick<Io, 'env'>): string {
  const pid = readDaemonRecord(findStateDir(env))?.pid;
  if (pid !== undefined && isSuspended(pid))
    return `Waiting for the daemon (process ${pid}), which is stopped. Let it continue: kill -CONT ${pid}\n`;
  const who = pid === undefined ? 'the daemon' : `the daemon (process ${pid})`;
  return `Waiting for ${who}, which has not answered yet. Ctrl-C gives up; see daemon.log in the state folder.\n`;
}

const HEALTH_MS = 1000;
const AWAY_POLL_MS = 2000;
const AWAY_ANSWER_MS = 4000;
const SLOW_MS = 3000;
