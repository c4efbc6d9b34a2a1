import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFence } from '../fence/fence.ts';
import { findFence, installFence } from '../fence/install.ts';
import { findCurrentBranch } from '../repository.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { createTakeoverWorktree, createWorktree } from './create.ts';
import { findWorktree } from './worktree.ts';

const BRANCH = 'feature/t1';
let scratch: Scratch;
let repo: string;
let path: string;

beforeEach(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
});
afterEach(() => scratch.remove());

describe('takeOver', () => {
  it('continues with the committed work, and leaves the rest in place', async () => {
    const head = scratch.commit(path, { a: '1\n' });
    scratch.write(path, { a: 'not committed\n', '.git-lock': '' });
    scratch.write(repo, { '.git/worktrees/t1/index.lock': '' });
    const next = valueOf(await createTakeoverWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, epoch: 2 }));
    expect(next).toEqual({ path: join(repo, '.worktrees/t1-e2'), branch: BRANCH, head });
    expect(valueOf(await findCurrentBranch(path))).toBe(null);
    expect(scratch.git(path, 'rev-parse', 'HEAD')).toBe(head);
    expect(scratch.git(path, 'diff', '--name-only')).toBe('a');
    const third = valueOf(await createTakeoverWorktree(path, { stateDir: scratch.folder, branch: BRANCH, epoch: 3 }));
    expect(third.path).toBe(join(repo, '.worktrees/t1-e3'));
  });

  it('continues beside an unfinished rebase, whose end the fence refuses', async () => {
    const stateDir = join(scratch.folder, 'state');
    valueOf(await installFence(path, { stateDir, project: 'p', taskId: 'T1', epoch: 1, branch: BRANCH }));
    writeFence(stateDir, 'p', 'T1', { epoch: 1, sessionId: 's1' });
    scratch.commit(path, { 'README.md': 'ours\n' });
    scratch.commit(repo, { 'README.md': 'theirs\n' });
    expect(scratch.try(path, ['rebase', 'main']).code).toBe(1);
    expect(valueOf(await findWorktree(repo, BRANCH))?.path).toBe(path);
    const next = valueOf(await createTakeoverWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, epoch: 2 }));
    writeFence(stateDir, 'p', 'T1', { epoch: 2, sessionId: 's2' });
    scratch.write(path, { 'README.md': 'both\n' });
    scratch.git(path, 'add', '--all');
    const late = scratch.try(path, ['rebase', '--continue'], { GIT_EDITOR: ':' });
    expect(late.stderr).toContain('stale claim: epoch 1 < 2');
    expect(scratch.git(repo, 'rev-parse', BRANCH)).toBe(next.head);
  });

  it('reports a missing folder of the branch', async () => {
    rmSync(path, { recursive: true });
    expect(valueOf(await findFence(path))).toBe(null);
    expect(
      codeOf(
        await createWorktree(repo, {
          stateDir: scratch.folder,
          branch: BRANCH,
          base: 'main',
          existingBranch: 'continue',
        }),
      ),
    ).toBe('git/worktree-missing');
    expect(
      valueOf(await createTakeoverWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, epoch: 2 })).path,
    ).toBe(join(repo, '.worktrees/t1-e2'));
  });
});

it("uses another folder if the branch's folder was switched to another branch", async () => {
  scratch.git(path, 'switch', '--quiet', '-c', 'mine');
  const again = await createWorktree(repo, {
    stateDir: scratch.folder,
    branch: BRANCH,
    base: 'main',
    existingBranch: 'continue',
  });
  expect(valueOf(again).path).toBe(`${path}-2`);
});
