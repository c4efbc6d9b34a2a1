import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { newRepository } from '../../test/package/new-repository.ts';

/** A folder with its own repositories, isolated from the git configuration of the user who runs the tests. */
export class Scratch {
  readonly folder: string;

  constructor(name = 'baton git ü ') {
    Object.assign(process.env, {
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.org',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.org',
    });
    for (const name of Object.keys(process.env)) if (name.startsWith('BATON_')) delete process.env[name];
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  }

  /** Creates a repository with one commit on main. */
  repository(name = 'repo'): string {
    const path = join(this.folder, name);
    newRepository(path, 'readme');
    return path;
  }

  empty(name: string): string {
    const path = join(this.folder, name);
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', path]);
    return path;
  }

  bare(name: string): string {
    const path = join(this.folder, name);
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', path]);
    return path;
  }

  git(cwd: string, ...args: string[]): string {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  /** Runs git as a person would, and returns a refusal instead of throwing. */
  try(
    cwd: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    input = '',
  ): { code: number | null; stderr: string } {
    const ran = spawnSync('git', args, { cwd, encoding: 'utf8', env: { ...process.env, ...env }, input });
    return { code: ran.status, stderr: ran.stderr };
  }

  write(path: string, files: Record<string, string>, mode = 0o644): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), text, { mode });
    }
  }

  commit(path: string, files: Record<string, string>, message = 'change'): string {
    this.write(path, files);
    this.git(path, 'add', '--all');
    this.git(path, 'commit', '--quiet', '--message', message);
    return this.git(path, 'rev-parse', 'HEAD');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns the value of a result, or throws. */
export function valueOf<T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false }): T {
  if (!result.ok) throw new Error(`refused: ${JSON.stringify(result)}`);
  return result.value;
}

/** Returns the code of a problem, or throws. */
export function codeOf(result: { readonly ok: boolean; readonly problem?: { readonly code: string } }): string {
  if (result.ok || result.problem === undefined) throw new Error(`not refused: ${JSON.stringify(result)}`);
  return result.problem.code;
}
