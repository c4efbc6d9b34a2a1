import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slugOf } from '../../protocol/branch-name.ts';
import { isGitRef } from '../../protocol/text/text-format.ts';
import { codeOf, valueOf } from '../scratch.cases.ts';
import { branchName, worktreeFolder } from './create.ts';

const n = 7;

describe('branchName', () => {
  it.each([
    ['P0.1.1', 'Package setup', 'feature/p0-1-1-package-setup'],
    ['T042', 'Fix: the “Café” parser!', 'feature/t042-fix-the-cafe-parser'],
    ['W-00042', '日本語', 'feature/w-00042'],
    ['a.lock', '', 'feature/a-lock'],
    ['X--', '$(rm -rf /) `id`; --force', 'feature/x-rm-rf-id-force'],
  ])('%s %s', (id, title, branch) => {
    expect(valueOf(branchName({ id, n, title }))).toBe(branch);
  });

  it('follows another template, whose own text stays unchanged', () => {
    const task = { id: 'P0.1', n, title: 'One two', epicId: 'E003' };
    expect(valueOf(branchName(task, 'Agents/${task.slug}/${task.id}'))).toBe('Agents/one-two/p0-1');
    expect(valueOf(branchName(task, '${task.epic_id}/${task.prd_id}/${task.n}'))).toBe('e003/prd-000/7');
    expect(valueOf(branchName({ ...task, title: '日本語' }, 'x/${task.slug:-task}/${task.n}'))).toBe('x/task/7');
    expect(codeOf(branchName(task, 'feature/${task.title}'))).toBe('git/bad-name');
    expect(codeOf(branchName(task, '-${task.id}'))).toBe('git/bad-name');
    expect(codeOf(branchName({ id: 'a', n, title: '' }, '${task.slug}'))).toBe('git/bad-name');
    expect(codeOf(branchName(task, `${'x'.repeat(250)}\${task.id}`))).toBe('git/bad-name');
  });

  it('creates a valid git name for every task', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    fc.assert(
      fc.property(id, fc.string({ unit: 'binary' }), (id, title) => {
        const name = valueOf(branchName({ id, n, title }));
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
