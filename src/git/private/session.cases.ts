import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Mount, PrivateGit } from '../../protocol/sandbox.ts';
import { fencePath, writeFence } from '../fence/fence.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { createWorktree } from '../worktree/create.ts';
import { privateGitMounts } from './mounts.ts';
import { preparePrivateGit, type PrivateGitRequest } from './prepare.ts';

export const BRANCH = 'feature/t1';

/** A repository with a worktree for a task, and a session in it. */
export class Session {
  readonly scratch: Scratch;
  readonly repo: string;
  readonly worktree: string;
  readonly stateDir: string;
  git: PrivateGit;

  private constructor(scratch: Scratch, repo: string, worktree: string, git: PrivateGit) {
    this.scratch = scratch;
    this.repo = repo;
    this.worktree = worktree;
    this.stateDir = stateOf(scratch);
    this.git = git;
  }

  /** `set` prepares the repository before the session starts. */
  static async begin(set: (scratch: Scratch, repo: string) => void = () => undefined): Promise<Session> {
    const scratch = oddScratch();
    const repo = scratch.repository();
    set(scratch, repo);
    const made = await createWorktree(repo, { stateDir: stateOf(scratch), branch: BRANCH, base: 'main' });
    return Session.in(scratch, repo, valueOf(made).path);
  }

  static async in(scratch: Scratch, repo: string, worktree: string): Promise<Session> {
    const request = { stateDir: stateOf(scratch), worktree, fence: null, isResumed: false };
    return new Session(scratch, repo, worktree, valueOf(await preparePrivateGit(request)));
  }

  async prepare(more: Partial<PrivateGitRequest> = {}): Promise<PrivateGit> {
    const { stateDir, worktree } = this;
    const request = { stateDir, worktree, fence: null, isResumed: false, ...more };
    this.git = valueOf(await preparePrivateGit(request));
    return this.git;
  }

  /** Makes a claim with this epoch the live one. The session's own epoch is 1. */
  claim(epoch: number): void {
    const fence = { livePath: fencePath(this.stateDir, 'p', 'T1'), epoch: 1 };
    writeFence(this.stateDir, 'p', 'T1', { epoch, sessionId: 's' });
    this.git = { ...this.git, fence };
  }

  /** Runs git as the session would, without a sandbox. */
  run(...args: string[]): string {
    const { folder, commonDir, worktree } = this.git;
    const env = {
      ...process.env,
      GIT_DIR: join(folder, 'git'),
      GIT_WORK_TREE: worktree,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(commonDir, 'objects')),
    };
    const ran = spawnSync('git', args, { cwd: worktree, env, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stderr}`);
    return ran.stdout.trim();
  }

  commit(files: Record<string, string>, message = 'change'): string {
    this.scratch.write(this.worktree, files);
    this.run('add', '--all');
    this.run('commit', '--quiet', '--message', message);
    return this.run('rev-parse', 'HEAD');
  }

  /** Runs a shell script in bubblewrap with the session's mounts, and with nothing else of the scratch folder. */
  inSandbox(script: string): { code: number | null; stdout: string; stderr: string } {
    const { worktree, git, scratch } = this;
    const system = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run'];
    const own = ['--tmpfs', scratch.folder, '--bind', worktree, worktree];
    const mounts = [...system, ...own, ...privateGitMounts(git).flatMap(argumentsOf)];
    const namespaces = ['--unshare-user', '--unshare-pid', '--die-with-parent', '--chdir', worktree];
    const args = [...mounts, ...namespaces, '--', 'sh', '-euc', script];
    const ran = spawnSync('bwrap', args, { encoding: 'utf8' });
    return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
  }

  /** The value of a ref in the user's repository; empty if it does not exist. */
  ref(name: string): string {
    return this.scratch.git(this.repo, 'for-each-ref', '--format=%(objectname)', name);
  }

  refs(): string {
    return this.scratch.git(this.repo, 'for-each-ref', '--format=%(objectname) %(refname)');
  }

  end(): void {
    this.scratch.remove();
  }
}

/** A scratch folder with odd characters in every path. */
export function oddScratch(): Scratch {
  return new Scratch(`baton "private' ü `);
}

function stateOf(scratch: Scratch): string {
  return join(scratch.folder, 'state');
}

export const HAS_BUBBLEWRAP = spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0;

function argumentsOf(mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['--ro-bind', mount.from, mount.at];
    case 'write':
      return ['--bind', mount.from, mount.at];
    case 'empty':
    case 'scratch':
      return ['--tmpfs', mount.at];
    case 'masked':
      return ['--ro-bind', '/dev/null', mount.at];
    case 'link':
      return ['--symlink', mount.to, mount.at];
  }
}
