import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorktree } from './create.ts';
import { removeWorktree } from './remove.ts';
import { recordOrigin } from './origin.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { describeContent, readWorktreeContent, type WorktreeContentOptions } from './content.ts';
import { inLongLane } from '../../../test/lanes.ts';

const BRANCH = 'feature/t1';
let scratch: Scratch;
let repo: string;
let path: string;
let guard: WorktreeContentOptions;

beforeEach(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  guard = { stateDir: join(scratch.folder, 'state') };
  path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: BRANCH, base: 'main' })).path;
});
afterEach(() => scratch.remove());

describe('a worktree is kept', () => {
  it.each<[string, () => void]>([
    ['1 untracked', () => scratch.write(path, { 'new file ü': '' })],
    ['1 changed', () => scratch.write(path, { 'README.md': 'x' })],
    ['1 staged', () => (scratch.write(path, { a: '' }), scratch.git(path, 'add', 'a'))],
    ['1 stashed', () => (scratch.write(path, { 'README.md': 'x' }), scratch.git(path, 'stash'))],
    ['1 unmerged', () => scratch.commit(path, { a: '' })],
    ['1 unmerged', () => (scratch.git(path, 'switch', '-q', '--detach'), scratch.commit(path, { a: '' }))],
    ['1 unpushed, 1 unmerged', () => (remote(), scratch.commit(path, { a: '' }))],
    [
      '1 unmerged',
      () => (remote(), scratch.commit(path, { a: '' }), scratch.git(path, 'push', '-q', 'origin', BRANCH)),
    ],
    ['an unfinished bisection', () => scratch.git(path, 'bisect', 'start')],
  ])('with %s', async (words, change) => {
    change();
    expect(describeContent(valueOf(await readWorktreeContent(path, guard))).join(', ')).toBe(words);
    const refused = await removeWorktree(repo, path, guard);
    expect(refused).toMatchObject({
      problem: { code: 'git/worktree-keeps-work', message: `kept '${path}': ${words}` },
    });
    expect(existsSync(path)).toBe(true);
    expect(scratch.git(repo, 'branch', '--list', BRANCH)).toContain(BRANCH);
  });

  it('if it is the main one, locked, or no worktree', async () => {
    expect(codeOf(await removeWorktree(path, repo, guard))).toBe('git/main-worktree');
    expect(codeOf(await removeWorktree(repo, join(repo, '.git'), guard))).toBe('git/no-worktree');
    scratch.git(repo, 'worktree', 'lock', path);
    expect(codeOf(await removeWorktree(repo, path, guard))).toBe('git/worktree-locked');
  });
});

describe('a worktree is removed', () => {
  it.each<[string, () => void]>([
    ['was never used', () => undefined],
    ['was merged', () => scratch.git(repo, 'merge', '-q', '--no-ff', '--no-edit', BRANCH)],
    ['was squashed', () => (scratch.git(repo, 'merge', '-q', '--squash', BRANCH), scratch.commit(repo, {}, 'squash'))],
  ])('with its branch where the work %s', async (how, land) => {
    if (how !== 'was never used') {
      scratch.commit(path, { a: '1' });
      scratch.commit(path, { b: '1' });
    }
    land();
    scratch.git(repo, 'config', `branch.${BRANCH}.remote`, 'origin');
    expect(valueOf(await removeWorktree(repo, path, guard))).toEqual({ path, branch: BRANCH });
    expect(existsSync(path)).toBe(false);
    expect(scratch.git(repo, 'branch', '--list', BRANCH)).toBe('');
    expect(scratch.try(repo, ['config', '--get-regexp', '^branch\\.']).code).toBe(1);
  });

  inLongLane(() => {
    it('where Baton squashed the work between lines that others have changed', async () => {
      const lines = (...changed: string[]): string =>
        `${['one', 'two', 'three', 'four', 'five', ...changed].join('\n')}\n`;
      scratch.commit(repo, { list: lines('six') });
      scratch.git(path, 'merge', '-q', 'main');
      scratch.commit(path, { list: lines('six', 'from the task') });
      const landed = scratch.git(path, 'rev-parse', 'HEAD');
      scratch.commit(repo, { list: lines('changed by others', 'from the task'), other: 'x' });
      expect(codeOf(await removeWorktree(repo, path, guard))).toBe('git/worktree-keeps-work');
      expect(valueOf(await removeWorktree(repo, path, { ...guard, landed })).branch).toBe(BRANCH);
    });
  });

  inLongLane(() => {
    it('but not where a commit followed the one that Baton merged', async () => {
      scratch.commit(path, { a: '1' });
      const landed = scratch.git(path, 'rev-parse', 'HEAD');
      scratch.commit(path, { b: '1' });
      expect(codeOf(await removeWorktree(repo, path, { ...guard, landed }))).toBe('git/worktree-keeps-work');
    });
  });

  inLongLane(() => {
    it('with files ignored from the beginning, which are no work', async () => {
      scratch.write(repo, { '.git/info/exclude': '/node_modules\n' });
      valueOf(await recordOrigin(guard.stateDir, path, { copied: {}, linked: [] }));
      scratch.write(path, { 'node_modules/x': '' });
      expect(valueOf(await removeWorktree(repo, path, guard)).branch).toBe(BRANCH);
    });
  });

  inLongLane(() => {
    it('without its branch if that is the main branch', async () => {
      scratch.git(repo, 'switch', '-q', '-c', 'aside');
      const other = join(scratch.folder, 'other');
      scratch.git(repo, 'worktree', 'add', '-q', other, 'main');
      expect(valueOf(await removeWorktree(repo, other, guard))).toEqual({ path: other, branch: null });
      expect(scratch.git(repo, 'branch', '--list', 'main')).toContain('main');
    });
  });
});

function remote(): void {
  scratch.git(repo, 'remote', 'add', 'origin', scratch.bare('remote.git'));
  scratch.git(repo, 'push', '-q', 'origin', 'main');
}
