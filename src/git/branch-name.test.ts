import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isGitRef } from '../protocol/text-format.ts';
import { branchName, slugOf, worktreeFolder } from './branch-name.ts';
import { codeOf, valueOf } from './scratch.cases.ts';

describe('branchName', () => {
  it.each([
    ['P0.1.1', 'Package setup', 'feature/p0-1-1-package-setup'],
    ['T042', 'Fix: the “Café” parser!', 'feature/t042-fix-the-cafe-parser'],
    ['W-00042', '日本語', 'feature/w-00042'],
    ['a.lock', '', 'feature/a-lock'],
    ['X--', '$(rm -rf /) `id`; --force', 'feature/x-rm-rf-id-force'],
  ])('%s %s', (id, title, branch) => {
    expect(valueOf(branchName({ id, title }))).toBe(branch);
  });

  it('knows other templates, and says what it does not know', () => {
    const task = { id: 'P0.1', title: 'One two' };
    expect(valueOf(branchName(task, 'Agents/{slug}/{id}'))).toBe('agents/one-two/p0-1');
    expect(codeOf(branchName(task, 'feature/{title}'))).toBe('git/bad-template');
    expect(codeOf(branchName(task, '-{id}'))).toBe('git/bad-name');
    expect(codeOf(branchName({ id: 'a', title: '' }, '{slug}'))).toBe('git/bad-name');
  });

  it('makes a name that git takes of every task', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    fc.assert(
      fc.property(id, fc.string({ unit: 'binary' }), (id, title) => {
        const name = valueOf(branchName({ id, title }));
        expect(isGitRef(name)).toBe(true);
        expect(name).toBe(name.toLowerCase());
        expect(worktreeFolder(name)).toMatch(/^[a-z0-9_-]+$/);
      }),
    );
  });
});

it('cuts slugs between words', () => {
  expect(slugOf('a very long title that goes on and on, for no good reason')).toBe(
    'a-very-long-title-that-goes-on-and-on',
  );
  expect(slugOf('x'.repeat(100))).toBe('x'.repeat(40));
});
