import { resolve } from 'node:path';
import type { Answer } from '../api/answer.ts';
import type { Client } from '../api/client.ts';
import { connect, createClient } from '../api/connect.ts';
import type { Given, Io } from './command.ts';
import { sayWhenSlow } from './say-when-slow.ts';

/** Asks the daemon, which is started where it does not run. `--token` and `--project` are heard here, for every command. */
export async function ask(operation: string, input: unknown, given: Given, io: Io): Promise<Answer> {
  using slow = sayWhenSlow(io);
  // Whoever asked to wait knows that it may take long.
  if (given.options.has('wait')) slow[Symbol.dispose]();
  return await withClient(given, io, async (client) => client.call(operation, input));
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
export function lookingOn(given: Given, io: Io): Client {
  return createClient({ ...clientOptions(given, io), autostart: false });
}

function clientOptions(given: Given, io: Io) {
  const token = given.options.get('token');
  return {
    env: io.env,
    projectPath: resolve(io.cwd, given.options.get('project') ?? '.'),
    ...(token === undefined ? {} : { token }),
  };
}
