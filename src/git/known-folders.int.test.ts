import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { findRepository } from './repository.ts';
import { Scratch } from './scratch.cases.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());
afterEach(() => void vi.unstubAllEnvs());

describe('the folders of a repository', () => {
  it('are found again without git', async () => {
    const repository = scratch.repository('again');
    const first = await findRepository(repository);
    expect(first).toMatchObject({ ok: true, value: { top: repository, mainTop: repository } });
    expect(await withoutGit(repository)).toEqual(first);
  });

  it('of a linked worktree are found again without git, with the main worktree', async () => {
    const repository = scratch.repository('with a worktree');
    const worktree = join(scratch.folder, 'its-worktree');
    scratch.git(repository, 'worktree', 'add', '--quiet', worktree);
    const first = await findRepository(worktree);
    expect(first).toMatchObject({ ok: true, value: { top: worktree, mainTop: repository } });
    expect(await withoutGit(worktree)).toEqual(first);
  });

  it('are asked for in a folder below the top, which another repository may come to contain', async () => {
    const repository = scratch.repository('below');
    const folder = join(repository, 'inner');
    scratch.write(folder, { file: 'x' });
    expect(await findRepository(folder)).toMatchObject({ ok: true, value: { top: repository } });
    scratch.git(folder, 'init', '--quiet');
    expect(await findRepository(folder)).toMatchObject({ ok: true, value: { top: folder } });
  });

  it.each<[string, (repository: string) => void, object]>([
    ['HEAD is gone', (top) => rmSync(join(top, '.git/HEAD')), { ok: false }],
    ['the objects are gone', (top) => rmSync(join(top, '.git/objects'), { recursive: true }), { ok: false }],
    ['the repository is gone', (top) => rmSync(join(top, '.git'), { recursive: true }), { ok: false }],
    [
      'the configuration names another worktree',
      (top) => {
        scratch.write(`${top} elsewhere`, { file: 'x' });
        appendFileSync(join(top, '.git/config'), `[core]\n\tworktree = ${JSON.stringify(`${top} elsewhere`)}\n`);
      },
      { ok: true, value: { top: expect.stringContaining('elsewhere') as string } },
    ],
    [
      'its git folder moves elsewhere',
      (top) => {
        renameSync(join(top, '.git'), `${top}.git`);
        writeFileSync(join(top, '.git'), `gitdir: ${top}.git\n`);
      },
      { ok: true, value: { gitDir: expect.stringMatching(/\.git$/) as string } },
    ],
  ])('are asked for again if %s', async (name, change, expected) => {
    const repository = scratch.repository(name);
    expect(await findRepository(repository)).toMatchObject({ ok: true, value: { gitDir: join(repository, '.git') } });
    change(repository);
    const found = await findRepository(repository);
    expect(found).toMatchObject(expected);
    expect(found).not.toMatchObject({ value: { top: repository, gitDir: join(repository, '.git') } });
  });

  it('are asked for again if a linked worktree belongs to another repository', async () => {
    const repository = scratch.repository('main one');
    const other = scratch.repository('other one');
    const worktree = join(scratch.folder, 'linked');
    scratch.git(repository, 'worktree', 'add', '--quiet', worktree);
    expect(await findRepository(worktree)).toMatchObject({ ok: true, value: { mainTop: repository } });
    scratch.git(repository, 'worktree', 'remove', worktree);
    expect(await findRepository(worktree)).toMatchObject({ ok: false });
    scratch.git(other, 'worktree', 'add', '--quiet', worktree);
    expect(await findRepository(worktree)).toMatchObject({ ok: true, value: { mainTop: other, top: worktree } });
  });
});

async function withoutGit(folder: string): ReturnType<typeof findRepository> {
  vi.stubEnv('PATH', '');
  return findRepository(folder);
}
