import { resolve } from 'node:path';
import type { Answer } from '../api/answer.ts';
import { connect } from '../api/connect.ts';
import type { Given, Io } from './command.ts';
import { sayWhenSlow } from './say-when-slow.ts';

/** Asks the daemon, which is started where it does not run. `--token` and `--project` are heard here, for every command. */
export async function ask(operation: string, input: unknown, given: Given, io: Io): Promise<Answer> {
  const token = given.options.get('token');
  using slow = sayWhenSlow(io);
  const client = await connect({
    env: io.env,
    projectPath: resolve(io.cwd, given.options.get('project') ?? '.'),
    ...(token === undefined ? {} : { token }),
  });
  // Whoever asked to wait knows that it may take long.
  if (given.options.has('wait')) slow[Symbol.dispose]();
  try {
    return await client.call(operation, input);
  } finally {
    client.close();
  }
}
