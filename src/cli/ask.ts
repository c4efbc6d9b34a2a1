import { resolve } from 'node:path';
import type { Answer } from '../api/answer.ts';
import type { Client } from '../api/client.ts';
import { connect, createClient } from '../api/connect.ts';
import type { Given, Io } from './command.ts';
import { sayCopying } from './say-copying.ts';
import { sayWhenAway } from './say-when-away.ts';
import { sayWhenSlow } from './say-when-slow.ts';

/** Asks the daemon, which is started where it does not run. `--token` and `--project` are heard here, for every command. */
export async function ask(operation: string, input: unknown, given: Given, io: Io): Promise<Answer> {
  if (waits(input)) return askPatiently(operation, input, given, io);
  using _slow = sayWhenSlow(io);
  using _copying = sayCopyingBeside(given, io);
  return await withClient(given, io, async (client) => client.call(operation, input));
}

/** Whoever asked to wait knows that it may take long; but not that nobody is there who could answer. */
async function askPatiently(operation: string, input: unknown, given: Given, io: Io): Promise<Answer> {
  const onlooker = lookingOn(given, io);
  try {
    using _away = sayWhenAway(io, onlooker);
    using _copying = sayCopying(io, onlooker);
    return await withClient(given, io, async (client) => client.call(operation, input));
  } finally {
    onlooker.close();
  }
}

/** On a connection of its own, which is opened only once a command takes long. */
function sayCopyingBeside(given: Given, io: Io): Disposable {
  let onlooker: Client | undefined;
  const copying = sayCopying(io, {
    call: async (...asked) => (onlooker ??= lookingOn(given, io)).call(...asked),
  });
  return {
    [Symbol.dispose]: () => {
      copying[Symbol.dispose]();
      onlooker?.close();
    },
  };
}

function waits(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'wait_ms' in input && input.wait_ms !== 0;
}

/** The same for a command that asks more than once. */
export async function withClient<T>(given: Given, io: Io, use: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(clientOptions(given, io));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** A client for whoever only looks on: it starts no daemon, and says so where there is none. */
export function lookingOn(given: Given, io: Io, options: { readonly answerMs?: number } = {}): Client {
  return createClient({ ...clientOptions(given, io), autostart: false, ...options });
}

export function clientOptions(given: Given, io: Io) {
  const token = given.options.get('token');
  return {
    env: io.env,
    projectPath: resolve(io.cwd, given.options.get('project') ?? '.'),
    ...(token === undefined ? {} : { token }),
  };
}
