import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Attempts = Readonly<Record<string, { readonly worked: boolean; readonly got: string }>>;

/**
 * What a process in a sandbox must not be able to do, with the attempts in `attempts.mjs` that must fail. The other
 * attempts succeed in the session's own folders, so the real files are compared.
 */
export const MUST_FAIL = {
  'read the operator token, the key or another token': [
    'read the operator token',
    'read the signing key',
    'read the worker token',
    'read the session secret',
    'read a launch file',
    'read the token through the root or a descriptor of another process',
  ],
  'become operator by a double fork with a cleared environment': ['become operator, forked twice, without variables'],
  'see the main checkout': ['read the main checkout'],
  'see or write another worktree': ['read another worktree'],
  'see processes outside, or signal them': ['see processes outside', 'kill the daemon'],
  'reach the daemon and its page': ['reach the daemon'],
  "reach another agent's port": ["reach another agent's port"],
  'reach cloud metadata': ['reach cloud metadata'],
  'replace its session folder, or the folder above, by a link': [
    'replace the session folder by a link',
    'replace the folder above it by a link',
  ],
  'replace the .git file of its worktree': ['replace the .git file of the worktree'],
  'fork without limit': ['fork without limit'],
  'read an injected secret, or have it sent elsewhere': [
    'find an injected secret',
    'have the injected secret sent elsewhere',
  ],
  'read a private key of the user': ['read a private key'],
  'gain rights': [
    'become root in a new namespace',
    'mount something',
    'make a program that runs as its owner',
    'link a file of the system into the worktree',
    'inherit a descriptor',
    'write a setting of the kernel',
    'leave the control group',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Reads the results that `attempts.mjs` wrote into its folder. */
export function readAttempts(folder: string, log: string): Attempts {
  const path = join(folder, 'attempts.json');
  if (!existsSync(path))
    throw new Error(`no attempts were made: ${existsSync(log) ? readFileSync(log, 'utf8') : 'nothing was started'}`);
  return JSON.parse(readFileSync(path, 'utf8')) as Attempts;
}

/** Returns attempts that succeeded, or that were not made. */
export function findSuccesses(attempts: Attempts, names: readonly string[]): unknown[] {
  return names.flatMap((name) => (attempts[name]?.worked === false ? [] : [[name, attempts[name]]]));
}
