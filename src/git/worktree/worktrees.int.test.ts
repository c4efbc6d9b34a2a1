import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorktree } from './create.ts';
import { removeWorktree } from './remove.ts';
import { findCurrentBranch, findMainBranch, findNewestMain, findRepository } from '../repository.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { findWorktree, listWorktrees } from './worktree.ts';

const BRANCH = 'feature/p0-1-1-setup';
let scratch: Scratch;
let repo: string;

beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository('my repo é');
});
afterEach(() => scratch.remove());

describe('a repository', () => {
  it('is found from everywhere in it', async () => {
    const { path } = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }));
    scratch.write(path, { 'deep/er/x': '' });
    const found = valueOf(await findRepository(join(path, 'deep/er')));
    const gitDir = join(repo, '.git/worktrees/p0-1-1-setup');
    expect(found).toEqual({ top: path, gitDir, commonDir: join(repo, '.git'), mainTop: repo });
    expect(codeOf(await findRepository(scratch.folder))).toBe('git/no-repository');
    expect(codeOf(await findRepository(join(scratch.folder, 'nowhere')))).toBe('git/cannot-run');
  });

  it('uses its folder regardless of the environment', async () => {
    process.env['GIT_DIR'] = join(scratch.empty('other'), '.git');
    try {
      expect(valueOf(await findRepository(repo)).top).toBe(repo);
    } finally {
      delete process.env['GIT_DIR'];
    }
  });

  it('has a current branch or none, and a main branch', async () => {
    expect(valueOf(await findMainBranch(repo))).toMatchObject({ name: 'main', ref: 'refs/heads/main' });
    scratch.git(repo, 'branch', '-m', 'trunk');
    expect(codeOf(await findMainBranch(repo))).toBe('git/no-main-branch');
    expect(valueOf(await findMainBranch(repo, 'trunk'))).toMatchObject({ name: 'trunk' });
    expect(codeOf(await findMainBranch(repo, '--all'))).toBe('git/bad-name');
    expect(valueOf(await findCurrentBranch(repo))).toBe('trunk');
    scratch.git(repo, 'switch', '--quiet', '--detach');
    expect(valueOf(await findCurrentBranch(repo))).toBe(null);
    expect(valueOf(await findCurrentBranch(scratch.empty('new')))).toBe('main');
  });

  it('uses the local main branch, and the remote copy only if requested and ahead', async () => {
    const clone = join(scratch.folder, 'clone');
    scratch.git(scratch.folder, 'clone', '--quiet', repo, clone);
    const sha = scratch.commit(repo, { a: '1' });
    scratch.git(clone, 'fetch', '--quiet');
    const here = scratch.git(clone, 'rev-parse', 'refs/heads/main');
    expect(valueOf(await findMainBranch(clone))).toEqual({ name: 'main', sha: here, ref: 'refs/heads/main' });
    expect(valueOf(await findNewestMain(clone))).toEqual({ name: 'main', sha, ref: 'refs/remotes/origin/main' });
    scratch.git(clone, 'merge', '--quiet', 'origin/main');
    const ours = scratch.commit(clone, { b: '1' });
    expect(valueOf(await findNewestMain(clone))).toEqual({ name: 'main', sha: ours, ref: 'refs/heads/main' });
  });
});

describe('createWorktree', () => {
  it('creates a worktree that git does not see, and does not change .gitignore', async () => {
    const made = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }));
    expect(made.path).toBe(join(repo, '.worktrees/p0-1-1-setup'));
    valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/two', base: 'main' }));
    expect(scratch.git(repo, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(existsSync(join(repo, '.gitignore'))).toBe(false);
    expect(readFileSync(join(repo, '.git/info/exclude'), 'utf8').match(/^\/\.worktrees\/$/gm)).toHaveLength(1);
    expect(valueOf(await listWorktrees(made.path)).map(({ branch }) => branch)).toEqual([
      'main',
      BRANCH,
      'feature/two',
    ]);
  });

  it('puts the worktree of a worktree beside it', async () => {
    const { path } = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }));
    const nested = valueOf(
      await createWorktree(path, { stateDir: scratch.folder, branch: 'feature/two', base: 'HEAD' }),
    );
    expect(nested.path).toBe(join(repo, '.worktrees/two'));
  });

  it('names the owner of an existing branch, and the next step', async () => {
    valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }));
    const again = await createWorktree(repo, {
      stateDir: scratch.folder,
      branch: BRANCH,
      base: 'main',
      owner: { taskId: 'P0.1.1', holder: 'claude-a' },
    });
    expect(again).toMatchObject({
      problem: {
        code: 'git/worktree-exists',
        message: `branch '${BRANCH}' already exists and is checked out at '${join(repo, '.worktrees/p0-1-1-setup')}'; it belongs to P0.1.1, held by claude-a`,
        hint: 'Take another task: baton task next',
      },
    });
    scratch.git(repo, 'branch', 'feature/by-hand');
    expect(
      await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/by-hand', base: 'main' }),
    ).toMatchObject({
      problem: { code: 'git/branch-exists', message: "branch 'feature/by-hand' already exists" },
    });
    const owner = { taskId: 'T1', holder: null };
    expect(
      await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/by-hand', base: 'main', owner }),
    ).toMatchObject({
      problem: { hint: 'Claim the task first: baton task claim T1' },
    });
    const on = await createWorktree(repo, {
      stateDir: scratch.folder,
      branch: 'feature/by-hand',
      base: 'main',
      existingBranch: 'continue',
    });
    expect(valueOf(on).path).toBe(join(repo, '.worktrees/by-hand'));
  });

  it('lets exactly one of many callers win', async () => {
    const tries = await Promise.all(
      Array.from({ length: 6 }, () => createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })),
    );
    expect(tries.filter(({ ok }) => ok)).toHaveLength(1);
    const codes = tries.filter(({ ok }) => !ok).map((one) => codeOf(one));
    expect(codes.filter((code) => !/^git\/(?:worktree|branch|path)-exists$/.test(code))).toEqual([]);
  });

  it('is created even if the user’s hook fails', async () => {
    scratch.write(repo, { '.git/hooks/post-checkout': '#!/bin/sh\nexit 3\n' }, 0o755);
    const { path } = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }));
    expect(valueOf(await findCurrentBranch(path))).toBe(BRANCH);
    expect(scratch.git(path, 'status', '--porcelain')).toBe('');
  });

  it('is created again after a daemon ended before it was complete', async () => {
    const held = valueOf(
      await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main', hold: true }),
    );
    rmSync(join(held.path, 'README.md'));
    expect(valueOf(await findWorktree(repo, BRANCH))).toMatchObject({ isBeingMade: true, isLocked: true });
    const request = { stateDir: scratch.folder, branch: BRANCH, base: 'main', existingBranch: 'continue' } as const;
    const { path } = valueOf(await createWorktree(repo, request));
    expect(path).toBe(held.path);
    expect(scratch.git(path, 'status', '--porcelain')).toBe('');
    expect(valueOf(await findWorktree(repo, BRANCH))).toMatchObject({ isBeingMade: false, isLocked: false });
    expect(codeOf(await createWorktree(repo, request)), 'one that is complete is not taken').toBe(
      'git/worktree-exists',
    );
  });

  it('leaves no branch behind if the worktree cannot be created', async () => {
    scratch.write(repo, { '.worktrees': 'a file\n' });
    await expect(
      createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }),
    ).resolves.toMatchObject({ ok: false });
    expect(scratch.git(repo, 'branch', '--list', BRANCH)).toBe('');
  });

  it('reports the obstacle', async () => {
    expect(
      codeOf(await createWorktree(scratch.empty('new'), { stateDir: scratch.folder, branch: BRANCH, base: 'main' })),
    ).toBe('git/no-base');
    expect(codeOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: '--orphan' }))).toBe(
      'git/no-base',
    );
    scratch.write(repo, { '.worktrees/p0-1-1-setup/x': '' });
    expect(codeOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }))).toBe(
      'git/path-exists',
    );
    scratch.git(repo, 'branch', 'feature');
    expect(codeOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/x', base: 'main' }))).toBe(
      'git/branch-conflict',
    );
  });

  it('reports a removed folder', async () => {
    const { path } = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' }));
    rmSync(path, { recursive: true });
    const request = { stateDir: scratch.folder, branch: BRANCH, base: 'main', existingBranch: 'continue' } as const;
    expect(codeOf(await createWorktree(repo, request))).toBe('git/worktree-missing');
    scratch.git(repo, 'worktree', 'prune');
    expect(valueOf(await createWorktree(repo, request)).path).toBe(path);
  });

  it.each(['-b', '--force', 'a..b', 'x.lock', 'a b', 'a\nb', '../up', '@', 'HEAD', 'a//b', '$(id)~1', ''])(
    'refuses the name %j',
    async (branch) => {
      expect(codeOf(await createWorktree(repo, { stateDir: scratch.folder, branch, base: 'main' }))).toBe(
        'git/bad-name',
      );
    },
  );

  it.each(["it's-$(id>pwned)", 'a;b&&c', '`id`', 'naïve/ü/日本'])('takes the name %j as it is', async (branch) => {
    const { path } = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch, base: 'main' }));
    expect(valueOf(await findCurrentBranch(path))).toBe(branch);
    expect(valueOf(await removeWorktree(repo, path, { stateDir: scratch.folder }))).toEqual({ path, branch });
  });
});
