import { join } from 'node:path';
import type { ApiError } from '../answer.ts';
import { writeFileAtomically } from '../files.ts';
import { needsPass } from '../operator-pass.ts';
import { belowSessionError, findSessionAbove } from '../session-above.ts';
import {
  findStateDir,
  isPrincipalName,
  makeFolder,
  PRINCIPAL_EXPECTED,
  readToken,
  stateFiles,
} from '../state-folder.ts';
import { Client, type ClientOptions } from './client.ts';

export interface ConnectOptions extends Partial<Omit<ClientOptions, 'token'>> {
  readonly token?: string;
  /** Which token of the state folder to use if neither an option nor the environment has one. */
  readonly as?: 'operator' | 'worker';
  /** The worker whose token to use; absent for the shared one. */
  readonly principal?: string;
}

/**
 * Starts the daemon if needed, and delivers kept calls first. If no daemon is reached, reads fail and writes are kept.
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const client = createClient(options);
  if ((await client.reach()) === undefined) await client.deliverKept();
  return client;
}

export function createClient({ token, as = 'operator', principal, ...options }: ConnectOptions = {}): Client {
  const env = options.env ?? process.env;
  const stateDir = options.stateDir ?? findStateDir(env);
  const { BATON_TOKEN: ofEnvironment, BATON_URL: url } = env;
  // Inside a session only the environment's token is used, never the operator's.
  const given = token ?? (ofEnvironment === '' ? undefined : ofEnvironment);
  return new Client({
    env,
    autostart: true,
    reachMs: 15_000,
    // A supervisor serves only its own agent.
    ...(token === undefined && ofEnvironment && url ? { url } : {}),
    ...options,
    stateDir,
    ...rightsOf(given, { ofFolder: as, principal }, stateDir, env),
  });
}

/**
 * A process inside a session acts for that session, even without its variables. If the session's token cannot be read,
 * every call is refused.
 */
function rightsOf(
  given: string | undefined,
  own: { readonly ofFolder: 'operator' | 'worker'; readonly principal: string | undefined },
  stateDir: string,
  env: ClientOptions['env'],
): Pick<ClientOptions, 'token' | 'url'> {
  if (given !== undefined && !needsPass(given)) return { token: { given } };
  const above = findSessionAbove(stateDir, env);
  if (above === undefined) return { token: given === undefined ? own : { given } };
  if (given !== undefined || above.token === undefined) return { token: { refused: belowSessionError(above) } };
  return { token: { given: above.token }, ...(above.url === undefined ? {} : { url: above.url }) };
}

/**
 * Issues a worker token once and stores it, so that later connections have the same identity. Returns an error if that
 * failed.
 */
export async function ensureWorkerToken(
  principal: string,
  env: Readonly<Record<string, string | undefined>>,
  autostart = true,
): Promise<ApiError | undefined> {
  if (!isPrincipalName(principal)) {
    const message = `'${principal}' is not a valid name of a principal: ${PRINCIPAL_EXPECTED}`;
    return { code: 'bad-request', message, hint: 'Use a name such as claude.ada.' };
  }
  const stateDir = findStateDir(env);
  if (readToken(stateDir, 'worker', principal) !== undefined) return undefined;
  const client = createClient({ env, as: 'operator', autostart });
  try {
    const answer = await client.issueWorkerToken(principal);
    if (!answer.ok) return answer.error;
    const { workers } = stateFiles(stateDir);
    makeFolder(workers);
    writeFileAtomically(join(workers, `${principal}.token`), `${answer.result.token}\n`);
    return undefined;
  } finally {
    client.close();
  }
}
