import { readFileSync } from 'node:fs';
import { stateFiles } from '../api/state-folder.ts';
import { secretForms } from '../protocol/redact-tokens.ts';

/**
 * The secrets of this state folder that no pattern finds in every form: the random part of the operator's and of the workers' token, and
 * the secret that all other tokens are signed with; each as it is and inside of base64 (`Authorization: Basic`, encoded headers).
 */
export function readOwnSecrets(stateDir: string): readonly string[] {
  const { operatorToken, workerToken, sessionSecret } = stateFiles(stateDir);
  return [operatorToken, workerToken, sessionSecret].flatMap((path) => secretForms(readSecret(path)));
}

function readSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
