import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { createWorktree } from '../worktree/create.ts';
import { endedConfigPath, fencePath, type LiveClaim, writeFence } from './fence.ts';
import { installFence } from './install.ts';

const BRANCH = 'feature/t1';
let scratch: Scratch;
let stateDir: string;
let repo: string;
let worktree: string;
let tip: string;

beforeAll(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  stateDir = join(scratch.folder, "the user's state");
  worktree = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
  live({ epoch: 1, sessionId: 's1' });
  valueOf(await installFence(worktree, { stateDir, project: 'p', taskId: 'T1', epoch: 1, branch: BRANCH }));
});
afterAll(() => scratch.remove());
beforeEach(() => {
  live({ epoch: 1, sessionId: 's1' });
  tip = scratch.commit(worktree, { [`${performance.now()}`]: '' });
});

/**
 * A client that a person starts has no `git` of Baton on its PATH. These are the variables that Gemini CLI sets for
 * every command of its shell.
 */
const GEMINI = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: '',
  GIT_CONFIG_KEY_1: 'core.hooksPath',
  GIT_CONFIG_VALUE_1: '',
};
const COMMIT = ['commit', '--quiet', '--allow-empty', '-m', 'late'];
const NO_HOOKS = ['-c', 'core.hooksPath=/dev/null'];

describe('without hooks, in the worktree of a claim', () => {
  it.each<[string, readonly string[], Record<string, string>]>([
    ['the shell of Gemini CLI', COMMIT, GEMINI],
    ['a command-line option', [...NO_HOOKS, ...COMMIT], {}],
    ['both, and --no-verify', [...NO_HOOKS, ...COMMIT, '--no-verify'], GEMINI],
    ['an amended commit', [...COMMIT, '--amend'], GEMINI],
    ['a merge', ['merge', '--quiet', '--no-ff', '-m', 'late', 'other'], GEMINI],
    ['a cherry-pick', ['cherry-pick', '--allow-empty', 'other'], GEMINI],
    ['a revert', ['revert', '--no-edit', 'HEAD'], GEMINI],
  ])('%s works while the claim is live, and is refused once it has ended', (_, args, env) => {
    scratch.git(repo, 'branch', '--force', 'other', 'main');
    scratch.git(repo, 'update-ref', 'refs/heads/other', scratch.git(repo, ...tree('main')));
    expect(scratch.try(worktree, args, env)).toMatchObject({ code: 0 });
    scratch.git(worktree, 'reset', '--quiet', '--hard', tip);
    live(null);
    expect(scratch.try(worktree, args, env)).toMatchObject({
      code: expect.not.stringMatching('^0$') as number,
      stderr: expect.stringContaining('claim ended: T1 is no longer held (baton task claim T1 --worktree)'),
    });
    expect(scratch.git(repo, 'rev-parse', BRANCH)).toBe(tip);
  });

  it('a hook that runs names the next step', () => {
    live(null);
    expect(scratch.try(worktree, COMMIT).stderr).toMatch(
      /^claim ended: T1 is no longer held.*\nbaton: moving .* refused/,
    );
  });

  it('other branches and stashes are free, and so is the branch for the next claim', () => {
    live(null);
    scratch.git(worktree, 'switch', '--quiet', '-c', 'mine');
    expect(scratch.try(worktree, COMMIT, GEMINI)).toMatchObject({ code: 0 });
    scratch.git(worktree, 'switch', '--quiet', BRANCH);
    scratch.git(worktree, 'branch', '-D', 'mine');
    scratch.write(worktree, { 'README.md': 'changed' });
    expect(scratch.try(worktree, ['stash'], GEMINI)).toMatchObject({ code: 0 });
    live({ epoch: 2, sessionId: 's2' });
    expect(scratch.try(worktree, COMMIT, GEMINI)).toMatchObject({ code: 0 });
    expect(readdirSync(join(endedConfigPath(fencePath(stateDir, 'p', 'T1')), '..'))).toEqual([]);
  });
});

function live(claim: LiveClaim | null): void {
  writeFence(stateDir, 'p', 'T1', claim);
}

function tree(parent: string): string[] {
  return ['commit-tree', '-p', parent, '-m', 'other', `${parent}^{tree}`];
}
