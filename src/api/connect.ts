import { Client, type ClientOptions } from './client.ts';
import { findStateDir } from './state-folder.ts';

export interface ConnectOptions extends Partial<Omit<ClientOptions, 'token'>> {
  /** Overrides the token of the environment. */
  readonly token?: string;
  /** Which token of the state folder to use where neither an option nor the environment names one. */
  readonly as?: 'operator' | 'worker';
}

/**
 * A client of the daemon of this environment, which is started where it does not run. What was kept while a daemon was away is
 * delivered first. A client that reaches nobody is a client all the same: its calls say so, and keep what they say.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const client = createClient(options);
  if ((await client.reach()) === undefined) await client.deliverKept();
  return client;
}

/** The same without connecting yet. */
export function createClient({ token, as = 'operator', ...options }: ConnectOptions = {}): Client {
  const env = options.env ?? process.env;
  const { BATON_TOKEN: ofEnvironment, BATON_URL: url } = env;
  // A session never falls back to the operator's token: where there is a token in the environment, no other is read.
  const given = token ?? (ofEnvironment === '' ? undefined : ofEnvironment);
  return new Client({
    stateDir: findStateDir(env),
    env,
    autostart: true,
    reachMs: 15_000,
    // The supervisor knows its own agent; everybody else goes to the daemon.
    ...(token === undefined && ofEnvironment && url ? { url } : {}),
    ...options,
    token: given === undefined ? { ofFolder: as } : { given },
  });
}
