import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { advanceBranch } from './advance-branch.ts';
import { makeCleanCheckout, removeCleanCheckout } from './clean-checkout.ts';
import { combine, MERGE_METHODS, type MergeMethod } from './combine.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** main: a, b; a branch from there with two commits, the second by somebody else; main has moved on meanwhile. */
function parted(name: string): { repo: string; main: string; head: string } {
  const repo = scratch.repository(name);
  scratch.commit(repo, { a: '1\n', b: '1\n' }, 'base');
  scratch.git(repo, 'switch', '--quiet', '--create', 'work');
  scratch.commit(repo, { a: '2\n' }, 'one');
  scratch.write(repo, { c: '1\n' });
  scratch.git(repo, 'add', 'c');
  scratch.git(repo, 'commit', '--quiet', '--author=Grace <grace@example.org>', '--message=two');
  const head = scratch.git(repo, 'rev-parse', 'HEAD');
  scratch.git(repo, 'switch', '--quiet', 'main');
  const main = scratch.commit(repo, { b: '2\n' }, 'meanwhile');
  return { repo, main, head };
}

const files = (repo: string, sha: string): Record<string, string> =>
  Object.fromEntries(['a', 'b', 'c'].map((path) => [path, scratch.git(repo, 'show', `${sha}:${path}`)]));

async function combined(repo: string, head: string, onto: string, method: MergeMethod): Promise<string> {
  const done = valueOf(await combine(repo, { head, onto, method, message: 'task: T1 — do it\n' }));
  if (done.kind !== 'combined') throw new Error(done.kind);
  return done.sha;
}

describe('a merge, made beside everything', () => {
  it.each(MERGE_METHODS)('%s joins both sides, and moves nothing', async (method) => {
    const { repo, main, head } = parted(`joins-${method}`);
    const sha = await combined(repo, head, main, method);
    expect(files(repo, sha)).toEqual({ a: '2', b: '2', c: '1' });
    expect(scratch.git(repo, 'rev-parse', 'main', 'work')).toBe(`${main}\n${head}`);
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('');
  });

  it('leaves one commit, a merge, or one commit each, with whoever did the work as their author', async () => {
    const { repo, main, head } = parted('shapes');
    const log = (sha: string): string => scratch.git(repo, 'log', '--format=%an %s %p', `${main}..${sha}`);
    const short = (sha: string): string => scratch.git(repo, 'rev-parse', '--short', sha);
    expect(log(await combined(repo, head, main, 'squash'))).toBe(`Grace task: T1 — do it ${short(main)}`);
    expect(log(await combined(repo, head, main, 'merge'))).toContain(
      `Grace task: T1 — do it ${short(main)} ${short(head)}`,
    );
    expect(log(await combined(repo, head, main, 'rebase'))).toMatch(/^Grace two \w+\nAda one \w+$/);
  });

  it.each(MERGE_METHODS)('%s names the files of a conflict', async (method) => {
    const { repo, head } = parted(`conflict-${method}`);
    const main = scratch.commit(repo, { a: '3\n', 'c d "é"': '1\n' }, 'the same line');
    const done = await combine(repo, { head, onto: main, method, message: 'm' });
    expect(valueOf(done)).toEqual({ kind: 'conflict', files: ['a'] });
  });

  it.each(MERGE_METHODS)('%s has nothing to do where main has it all', async (method) => {
    const { repo, main, head } = parted(`nothing-${method}`);
    const sha = await combined(repo, head, main, 'merge');
    expect(valueOf(await combine(repo, { head, onto: sha, method, message: 'm' }))).toEqual({ kind: 'nothing', sha });
  });

  it('does not join histories that have nothing in common', async () => {
    const { repo, main } = parted('unrelated');
    scratch.git(repo, 'switch', '--quiet', '--orphan', 'other');
    const head = scratch.commit(repo, { z: '1' });
    expect(codeOf(await combine(repo, { head, onto: main, method: 'squash', message: 'm' }))).toBe('git/unrelated');
  });
});

describe('moving main on', () => {
  it('takes the files of whoever has it checked out along, and keeps what they have not committed', async () => {
    const { repo, main, head } = parted('along');
    scratch.write(repo, { b: 'mine\n' });
    const to = await combined(repo, head, main, 'squash');
    expect(valueOf(await advanceBranch(repo, { branch: 'main', from: main, to }))).toBe('advanced');
    expect(scratch.git(repo, 'rev-parse', 'HEAD')).toBe(to);
    expect(readFileSync(join(repo, 'c'), 'utf8')).toBe('1\n');
    expect(readFileSync(join(repo, 'b'), 'utf8')).toBe('mine\n');
    expect(valueOf(await advanceBranch(repo, { branch: 'main', from: main, to })), 'once more').toBe('advanced');
  });

  it('does nothing where their work is in the way', async () => {
    const { repo, main, head } = parted('in-the-way');
    scratch.write(repo, { a: 'mine\n' });
    const to = await combined(repo, head, main, 'squash');
    expect(codeOf(await advanceBranch(repo, { branch: 'main', from: main, to }))).toBe('git/checkout-in-the-way');
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(main);
    expect(readFileSync(join(repo, 'a'), 'utf8')).toBe('mine\n');
  });

  it('does nothing where main has moved meanwhile, checked out or not', async () => {
    const { repo, main, head } = parted('moved');
    const to = await combined(repo, head, main, 'squash');
    const newer = scratch.commit(repo, { d: '1' });
    expect(valueOf(await advanceBranch(repo, { branch: 'main', from: main, to }))).toBe('moved');
    scratch.git(repo, 'switch', '--quiet', 'work');
    expect(valueOf(await advanceBranch(repo, { branch: 'main', from: main, to }))).toBe('moved');
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(newer);
  });

  it('moves a branch that nobody has checked out', async () => {
    const { repo, main, head } = parted('bare');
    scratch.git(repo, 'switch', '--quiet', 'work');
    const to = await combined(repo, head, main, 'squash');
    expect(valueOf(await advanceBranch(repo, { branch: 'main', from: main, to }))).toBe('advanced');
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(to);
  });
});

describe('a clean checkout', () => {
  it('has one commit and nothing else, is made anew over what was left, and goes without a trace', async () => {
    const { repo, head } = parted('clean');
    const folder = join(scratch.folder, 'checks', 'T1');
    valueOf(await makeCleanCheckout(repo, head, folder));
    scratch.write(folder, { left: 'behind', a: 'changed' });
    valueOf(await makeCleanCheckout(repo, head, folder));
    expect(scratch.git(folder, 'status', '--porcelain')).toBe('');
    expect(scratch.git(folder, 'rev-parse', 'HEAD')).toBe(head);
    valueOf(await removeCleanCheckout(repo, folder));
    valueOf(await removeCleanCheckout(repo, folder));
    expect(existsSync(folder)).toBe(false);
    expect(scratch.git(repo, 'worktree', 'list')).not.toContain('checks');
  });
});
