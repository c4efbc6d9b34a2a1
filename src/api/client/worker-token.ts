import { join } from 'node:path';
import type { ApiError } from '../answer.ts';
import { createClient } from './connect.ts';
import { isPrincipalName, PRINCIPAL_EXPECTED } from '../principal-name.ts';
import { findStateDir, makeFolder, readToken, stateFiles } from '../state-folder.ts';
import { writeFileAtomically } from '../files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Sees to it that a principal has a worker token. It is issued once, with the operator's rights, and lies in the state folder from then on,
 * so that every later connection of that principal has the same identity. Returns why it could not be issued.
 */
export async function ensureWorkerToken(
  principal: string,
  env: Environment,
  autostart = true,
): Promise<ApiError | undefined> {
  if (!isPrincipalName(principal)) {
    const message = `'${principal}' is no name of a principal: ${PRINCIPAL_EXPECTED}`;
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
