import { basename, join } from 'node:path';
import { toHex } from './hex.ts';
import { sha256 } from './node-crypto.ts';

/** Where a project's ledger lies inside a state folder, and the key of the machine that writes it. */
export interface LedgerPlace {
  readonly project: string;
  readonly ledger: string;
  /** The last checkpoint, outside of the database. */
  readonly outside: string;
  readonly key: string;
}

export function ledgerPlace(stateFolder: string, project: string): LedgerPlace {
  const ledger = join(stateFolder, 'projects', project, 'ledger.db');
  return { project, ledger, outside: `${ledger}.checkpoint`, key: join(stateFolder, 'keys', 'ledger.pem') };
}

/** The id of a repository: its name for people, and enough of a hash of its (real) path to tell two of that name apart. */
export function projectId(repository: string): string {
  const name = basename(repository)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 48);
  return `${name === '' ? 'project' : name}-${toHex(sha256(Buffer.from(repository))).slice(0, 8)}`;
}

/** `BATON_STATE_DIR`, else the place where the system keeps such things. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env.BATON_STATE_DIR) return env.BATON_STATE_DIR;
  const base = env.XDG_STATE_HOME ? env.XDG_STATE_HOME : join(env.HOME ?? '', '.local', 'state');
  return join(base, 'baton');
}
