import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORIES } from './where.ts';

const COMMITS = {
  /** `README.md`, committed by Ada. */
  readme: { 'README.md': 'hello\n' },
  /** A commit without files. */
  empty: {},
} as const;

/**
 * Creates a repository with one commit on main. Under vitest it is a copy: hundreds of tests start with one, and
 * creating it takes five git processes.
 */
export function newRepository(path: string, kind: keyof typeof COMMITS): void {
  if (REPOSITORIES === undefined) return makeRepository(path, kind);
  cpSync(join(REPOSITORIES, kind), path, { recursive: true });
  // The copied index has the times of the original's files.
  if (kind !== 'empty') execFileSync('git', ['update-index', '-q', '--refresh'], { cwd: path, env });
}

/** Creates the originals of the copies. */
export function makeRepositories(folder: string): void {
  for (const kind of ['readme', 'empty'] as const) makeRepository(join(folder, kind), kind);
}

function makeRepository(path: string, kind: keyof typeof COMMITS): void {
  const git = (...args: string[]): void => void execFileSync('git', args, { env });
  git('init', '--quiet', '--initial-branch=main', path);
  for (const sample of globSync('.git/hooks/*.sample', { cwd: path })) rmSync(join(path, sample));
  for (const [name, text] of Object.entries(COMMITS[kind])) writeFileSync(join(path, name), text);
  git('-C', path, 'add', '--all');
  git('-C', path, 'commit', '--quiet', '--allow-empty', '--message', 'first');
}

const env = {
  PATH: process.env['PATH'],
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};
