import { resolve } from 'node:path';
import type { Answer } from '../api/answer.ts';
import type { Client } from '../api/client/client.ts';
import { connect, createClient } from '../api/client/connect.ts';
import { isSuspended } from '../api/client/reach.ts';
import type { OperationName, ResultOf } from '../api/operations/registry.ts';
import type { StatusView } from '../api/run-views.ts';
import { findStateDir, readDaemonRecord } from '../api/state-folder.ts';
import type { Io, ParsedArguments } from './command.ts';

/** Calls an operation, and starts the daemon if none runs. Reads `--token` and `--project` for every command. */
export async function callOperation<N extends OperationName>(
  operation: N,
  input: unknown,
  given: ParsedArguments,
  io: Io,
): Promise<Answer<ResultOf<N>>> {
  if (hasWait(input)) return callWithNotices(operation, input, given, io);
  using _slow = reportWhenSlow(io);
  using _copying = reportCopyingOf(given, io);
  return await withClient(given, io, async (client) => client.call(operation, jsonOf(input)));
}

/** The daemon checks the input, with the texts that all surfaces share. */
function jsonOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

/** A user who asked to wait expects it to take long, but has to know if the daemon does not answer. */
async function callWithNotices<N extends OperationName>(
  operation: N,
  input: unknown,
  given: ParsedArguments,
  io: Io,
): Promise<Answer<ResultOf<N>>> {
  const onlooker = createObserver(given, io);
  try {
    using _away = reportWhenAway(io, onlooker);
    using _copying = reportCopying(io, async (signal) => onlooker.call('status_get', {}, { signal }));
    return await withClient(given, io, async (client) => client.call(operation, jsonOf(input)));
  } finally {
    onlooker.close();
  }
}

/** On a connection of its own, which is opened only once a command takes long. */
function reportCopyingOf(given: ParsedArguments, io: Io): Disposable {
  let onlooker: Client | undefined;
  const copying = reportCopying(io, async (signal) =>
    (onlooker ??= createObserver(given, io)).call('status_get', {}, { signal }),
  );
  return {
    [Symbol.dispose]: () => {
      copying[Symbol.dispose]();
      onlooker?.close();
    },
  };
}

function hasWait(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'wait_ms' in input && input.wait_ms !== 0;
}

/** The same for a command that makes several calls. */
export async function withClient<T>(given: ParsedArguments, io: Io, use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(clientOptions(given, io));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** A client that only watches: it starts no daemon, and returns an error if none runs. */
export function createObserver(given: ParsedArguments, io: Io, options: { readonly answerMs?: number } = {}): Client {
  return createClient({ ...clientOptions(given, io), autostart: false, ...options });
}

export function clientOptions(given: ParsedArguments, io: Io) {
  const token = given.options.get('token');
  return {
    env: io.env,
    projectPath: resolve(io.cwd, given.options.get('project') ?? '.'),
    ...(token === undefined ? {} : { token }),
  };
}

/**
 * Asks for the status once. An answer about the present is worth nothing if it comes late: a daemon that accepts the connection has a few seconds.
 * Starting a daemon where none runs may take longer.
 */
export async function readStatus(given: ParsedArguments, io: Io): Promise<Answer<StatusView>> {
  const client = createClient({ ...clientOptions(given, io), answerMs: statusTimeoutMs(io) });
  try {
    const unreached = await client.reach();
    if (unreached !== undefined) return { ok: false, error: unreached };
    const answer = await client.call('status_get', {});
    if (answer.ok || answer.error.code !== 'no-answer') return answer;
    const { ok } = await client.health({ timeoutMs: HEALTH_MS });
    return ok ? busyAnswer(statusTimeoutMs(io)) : answer;
  } finally {
    client.close();
  }
}

/** How long the daemon may take for each answer about the present: BATON_ANSWER_MS, or five seconds. */
export function statusTimeoutMs({ env }: Pick<Io, 'env'>): number {
  const ms = Number(env['BATON_ANSWER_MS']);
  return ms > 0 ? ms : 5000;
}

const HEALTH_MS = 1000;

function busyAnswer(ms: number): Answer<never> {
  const message = `the daemon runs, but has not reported on this project within ${ms / 1000} s`;
  const hint =
    'It may be opening a large project, or its ledger may be locked: see daemon.log in the state folder. Then: baton status';
  return { ok: false, error: { code: 'project-busy', message, hint } };
}

type AskStatus = (signal: AbortSignal) => Promise<Answer<Pick<StatusView, 'importing'>>>;

/**
 * Shows at a terminal how far the first copy of a repository is while a command waits for it. One line per ten percent: the lines stand
 * between those of the command.
 */
export function reportCopying(
  io: Pick<Io, 'err' | 'isTerminal'>,
  ask: AskStatus,
  lookMs = COPYING_POLL_MS,
): Disposable {
  const over = new AbortController();
  let said = '';
  let timer = io.isTerminal ? setTimeout(look, lookMs) : undefined;

  function look(): void {
    void ask(over.signal).then((answer) => {
      if (over.signal.aborted) return;
      const progress = answer.ok ? answer.result.importing : null;
      if (progress !== null && stepOf(progress) !== said) io.err(`Copying the repository: ${progress}\n`);
      if (progress !== null) said = stepOf(progress);
      timer = setTimeout(look, lookMs);
    });
  }

  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

const COPYING_POLL_MS = 1000;

/** The current stage, and the tens of its percentage. */
function stepOf(progress: string): string {
  const [, what = progress, percent = ''] = /^(.*?)(\d+)%/.exec(progress) ?? [];
  return `${what.trim()} ${percent === '' ? '' : Math.floor(Number(percent) / 10)}`;
}

/**
 * Whoever waits for something to happen hears, once, that the daemon has not answered for a while. It is asked now and then whether it is
 * there; a restart is shorter than two such looks.
 */
export function reportWhenAway(io: Io, client: Client): Disposable {
  const over = new AbortController();
  let misses = 0;
  let timer = setTimeout(look, AWAY_POLL_MS);

  function look(): void {
    void client.health({ signal: over.signal, timeoutMs: AWAY_ANSWER_MS }).then(({ ok }) => {
      if (over.signal.aborted) return;
      misses = ok ? 0 : misses + 1;
      if (misses === MAX_MISSES) io.err(describeWait(io));
      else timer = setTimeout(look, AWAY_POLL_MS);
    });
  }

  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

const AWAY_POLL_MS = 2000;
const AWAY_ANSWER_MS = 4000;
const MAX_MISSES = 2;

/** Names the daemon that a command waits for, after a few seconds without an answer. */
export function reportWhenSlow(io: Io, afterMs = SLOW_MS): Disposable {
  const timer = setTimeout(() => io.err(describeWait(io)), afterMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

export function describeWait({ env }: Pick<Io, 'env'>): string {
  const pid = readDaemonRecord(findStateDir(env))?.pid;
  if (pid !== undefined && isSuspended(pid))
    return `Waiting for the daemon (process ${pid}), which is stopped. Let it continue: kill -CONT ${pid}\n`;
  const who = pid === undefined ? 'the daemon' : `the daemon (process ${pid})`;
  return `Waiting for ${who}, which has not answered yet. Ctrl-C gives up; daemon.log in the state folder may say more.\n`;
}

const SLOW_MS = 3000;
