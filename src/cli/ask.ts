import { resolve } from 'node:path';
import type { Answer } from '../api/answer.ts';
import type { Client } from '../api/client/client.ts';
import { connect, createClient } from '../api/client/connect.ts';
import type { ParsedArguments, Io } from './command.ts';
import { reportCopying } from './say-copying.ts';
import { reportWhenAway } from './say-when-away.ts';
import { reportWhenSlow } from './say-when-slow.ts';

/** Asks the daemon, which is started where it does not run. `--token` and `--project` are heard here, for every command. */
export async function callOperation(
  operation: string,
  input: unknown,
  given: ParsedArguments,
  io: Io,
): Promise<Answer> {
  if (hasWait(input)) return callWithNotices(operation, input, given, io);
  using _slow = reportWhenSlow(io);
  using _copying = reportCopyingOf(given, io);
  return await withClient(given, io, async (client) => client.call(operation, input));
}

/** Whoever asked to wait knows that it may take long; but not that nobody is there who could answer. */
async function callWithNotices(operation: string, input: unknown, given: ParsedArguments, io: Io): Promise<Answer> {
  const onlooker = createObserver(given, io);
  try {
    using _away = reportWhenAway(io, onlooker);
    using _copying = reportCopying(io, onlooker);
    return await withClient(given, io, async (client) => client.call(operation, input));
  } finally {
    onlooker.close();
  }
}

/** On a connection of its own, which is opened only once a command takes long. */
function reportCopyingOf(given: ParsedArguments, io: Io): Disposable {
  let onlooker: Client | undefined;
  const copying = reportCopying(io, {
    call: async (...asked) => (onlooker ??= createObserver(given, io)).call(...asked),
  });
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

/** The same for a command that asks more than once. */
export async function withClient<T>(given: ParsedArguments, io: Io, use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(clientOptions(given, io));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** A client for whoever only looks on: it starts no daemon, and says so where there is none. */
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
