import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasCommit, isAncestor, readCommitsSince } from '../commits.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { findLanding, findRevert } from './landing.ts';

let scratch: Scratch;
let repo: string;
let work: string;

/** A branch `work` with two commits, and a main branch that has moved since. */
beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
  scratch.commit(repo, { 'a file': '1\n2\n3\n4\n5\n6\n7\n8\n', old: 'x\n' });
  scratch.git(repo, 'switch', '--quiet', '-c', 'work');
  scratch.commit(repo, { new: '1\n' }, 'one');
  work = scratch.commit(repo, { new: '2\n', 'a file': '1\n2\n3\n4\n5\n6\n7\nnine\n' }, 'two');
  scratch.git(repo, 'switch', '--quiet', 'main');
});
afterEach(() => scratch.remove());

describe('commits', () => {
  it('exist or not, by their full id, loose and packed, from any worktree', async () => {
    scratch.git(repo, 'tag', '-a', '-m', 'x', 'v1', work);
    const [tag, tree, blob] = ['v1', 'work^{tree}', 'work:new'].map((name) => scratch.git(repo, 'rev-parse', name));
    scratch.git(repo, 'worktree', 'add', '--quiet', '--detach', '../else where');
    for (const folder of [repo, `${scratch.folder}/else where`, `${repo}/.git`]) {
      expect(await hasCommit(folder, work)).toBe(true);
      expect(await hasCommit(folder, work.toUpperCase())).toBe(true);
      const others = [tag, tree, blob, work.slice(0, 39), `${work}0`, 'work', 'HEAD', '--help', '', '0'.repeat(40)];
      for (const other of others) expect(await hasCommit(folder, other ?? '')).toBe(false);
    }
    scratch.git(repo, 'gc', '--quiet', '--prune=now');
    expect(await hasCommit(repo, work)).toBe(true);
    expect(await hasCommit(scratch.folder, work)).toBe(false);
  });

  it('have ancestors and come after a base', async () => {
    expect(valueOf(await isAncestor(repo, 'main', work))).toBe(true);
    expect(valueOf(await isAncestor(repo, work, 'main'))).toBe(false);
    expect(codeOf(await isAncestor(repo, '0'.repeat(40), 'main'))).toBe('git/failed');
    expect(codeOf(await isAncestor(repo, '--all', 'main'))).toBe('git/failed');
    const since = valueOf(await readCommitsSince(repo, 'main', 'work'));
    expect(since).toHaveLength(2);
    expect(since.at(-1)).toBe(work);
  });
});

describe('work reaches the main branch', () => {
  it('not, if it was never merged', async () => {
    scratch.commit(repo, { other: '1\n' });
    expect(await landing()).toBe(null);
  });

  it('by fast-forward', async () => {
    scratch.git(repo, 'merge', '--quiet', '--ff-only', 'work');
    scratch.commit(repo, { other: '1\n' });
    expect(await landing()).toEqual({ how: 'fast-forward', commit: work, base: null });
  });

  it('by a merge', async () => {
    const base = scratch.git(repo, 'rev-parse', 'main');
    scratch.commit(repo, { other: '1\n' });
    const commit = merge();
    scratch.commit(repo, { other: '2\n' });
    expect(await landing()).toEqual({ how: 'merge', commit, base });
  });

  it('squashed, even if the main branch changed the same file', async () => {
    const base = scratch.git(repo, 'rev-parse', 'main');
    scratch.commit(repo, { 'a file': 'one\n2\n3\n4\n5\n6\n7\n8\n' });
    scratch.git(repo, 'merge', '--quiet', '--squash', 'work');
    const commit = scratch.commit(repo, {}, 'squashed');
    scratch.commit(repo, { new: 'later\n' });
    expect(await landing()).toEqual({ how: 'squash', commit, base });
  });

  it('rebased', async () => {
    scratch.commit(repo, { 'a file': 'one\n2\n3\n4\n5\n6\n7\n8\n' });
    scratch.git(repo, 'cherry-pick', 'main..work');
    expect(await landing()).toMatchObject({ how: 'rebase' });
  });

  it('copied by hand', async () => {
    scratch.git(repo, 'checkout', '--quiet', 'work', '--', '.');
    scratch.commit(repo, { 'and more': '1\n' }, 'work, and something else');
    expect(await landing()).toMatchObject({ how: 'squash', commit: null });
  });

  it('in an unrelated history: never', async () => {
    scratch.git(repo, 'switch', '--quiet', '--orphan', 'other');
    scratch.commit(repo, { x: '1\n' });
    expect(valueOf(await findLanding(repo, work, 'other'))).toBe(null);
  });
});

describe('work is undone on the main branch', () => {
  it('by reverting the merge, until that revert is reverted', async () => {
    const commit = merge();
    expect(await revert()).toBe(null);
    scratch.git(repo, 'revert', '--no-edit', '-m', '1', commit);
    const undone = scratch.git(repo, 'rev-parse', 'HEAD');
    expect(await revert()).toEqual({ commit: undone });
    scratch.commit(repo, { 'a file': 'quite different\n' });
    expect(await revert()).toEqual({ commit: undone });
    scratch.git(repo, 'reset', '--quiet', '--hard', 'HEAD^');
    scratch.git(repo, 'revert', '--no-edit', 'HEAD');
    expect(await revert()).toBe(null);
    scratch.commit(repo, { 'a file': 'quite different\n' });
    expect(await revert()).toBe(null);
  });

  it('by reverting the squashed commit', async () => {
    scratch.git(repo, 'merge', '--quiet', '--squash', 'work');
    scratch.commit(repo, {}, 'squashed');
    scratch.git(repo, 'revert', '--no-edit', 'HEAD');
    expect(await revert()).toEqual({ commit: scratch.git(repo, 'rev-parse', 'HEAD') });
  });

  it('by reverting its last commit after a fast-forward', async () => {
    scratch.git(repo, 'merge', '--quiet', '--ff-only', 'work');
    expect(await revert()).toBe(null);
    scratch.git(repo, 'revert', '--no-edit', 'HEAD');
    expect(await revert()).toMatchObject({ commit: expect.any(String) });
  });

  it('without a message, by its content', async () => {
    merge();
    scratch.git(repo, 'checkout', '--quiet', 'HEAD^1', '--', 'a file');
    scratch.git(repo, 'rm', '--quiet', 'new');
    scratch.commit(repo, {}, 'tidy up');
    expect(await revert()).toEqual({ commit: null });
  });

  it('but not by later changes', async () => {
    merge();
    scratch.commit(repo, { new: '3\n' });
    expect(await revert()).toBe(null);
  });

  it('and the first commit of the history is supported too', async () => {
    const first = scratch.git(repo, 'rev-list', '--max-parents=0', 'main');
    const value = { how: 'fast-forward', commit: first, base: null } as const;
    expect(valueOf(await findRevert(repo, { sha: first, landing: value }, 'main'))).toBe(null);
  });
});

function merge(): string {
  scratch.git(repo, 'merge', '--quiet', '--no-ff', '--no-edit', 'work');
  return scratch.git(repo, 'rev-parse', 'HEAD');
}

async function landing() {
  return valueOf(await findLanding(repo, work, 'main'));
}

async function revert() {
  const found = await landing();
  if (found === null) throw new Error('it has not landed');
  return valueOf(await findRevert(repo, { sha: work, landing: found }, 'main'));
}
