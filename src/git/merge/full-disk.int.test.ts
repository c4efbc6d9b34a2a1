import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SmallDisk } from '../../../test/processes/small-disk.ts';
import { importCommits } from '../own/transfer-commits.ts';
import { openOwnRepository, type OwnRepository } from '../own/own-repository.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { advanceBranch } from './advance-branch.ts';
import { CheckoutBackup } from './checkout-backup.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** Every file except git's own, with its content, kind and time. */
function picture(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('.git'));
  return Object.fromEntries(
    names.sort().map((name) => {
      const path = join(folder, name);
      const { mode, mtimeMs, ino } = lstatSync(path);
      if (lstatSync(path).isDirectory()) return [name, 'folder'];
      const content = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'base64');
      return [name, lstatSync(path).isSymbolicLink() ? content : `${mode} ${mtimeMs} ${ino} ${content}`];
    }),
  );
}

async function ownOf(repo: string, projectId: string, ...shas: string[]): Promise<OwnRepository> {
  const own = valueOf(await openOwnRepository(join(scratch.folder, 'state'), projectId, repo));
  valueOf(await importCommits(own, shas));
  return own;
}

const disk = SmallDisk.find(8);
afterAll(() => disk?.[Symbol.dispose]());

describe('a full disk when main moves', () => {
  it.skipIf(disk === undefined).each([0, 1024])(
    'restores the checkout exactly with %d KiB left, and names the next step',
    async (kilobytes) => {
      if (disk === undefined) return;
      const repo = join(disk.path, 'repo');
      rmSync(repo, { recursive: true, force: true });
      scratch.git(disk.path, 'init', '--quiet', '--initial-branch=main', repo);
      const large = (letter: string): string => letter.repeat(700_000);
      const main = scratch.commit(repo, { a: large('a'), 'd/b': 'b\n', 'gone/c': 'c\n', 'd/e': large('e') }, 'first');
      scratch.git(repo, 'switch', '--quiet', '--create', 'work');
      scratch.git(repo, 'rm', '--quiet', '-r', 'gone');
      const to = scratch.commit(
        repo,
        { a: large('1'), 'd/b': 'B\n', 'new/f': large('2'), 'd/e': large('3'), z: large('4') },
        'much',
      );
      const own = await ownOf(repo, `p${kilobytes}`, main, to);
      scratch.git(repo, 'switch', '--quiet', 'main');
      scratch.write(repo, { 'mine.txt': 'not committed\n' });
      const before = picture(repo);
      disk.fill(kilobytes * 1024);
      try {
        const done = await advanceBranch(own, { branch: 'main', from: main, to });
        expect(codeOf(done)).toMatch(/^git\/(?:checkout-failed|disk)$/);
        const { message, hint } = done.ok ? { message: '', hint: '' } : done.problem;
        expect(message).toMatch(/disk is full|no space/i);
        expect(hint).toMatch(/^Free (disk )?space/);
        expect(hint).not.toMatch(/commit|stash/);
        expect(picture(repo)).toEqual(before);
      } finally {
        disk.makeRoom();
      }
      expect(scratch.git(repo, 'rev-parse', 'main')).toBe(main);
      expect(scratch.git(repo, 'status', '--porcelain', '--untracked-files=all')).toBe('?? mine.txt');
      expect(readdirSync(join(repo, '.git')).filter((name) => /lock|undo/.test(name))).toEqual([]);
      expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('advanced');
      expect(readFileSync(join(repo, 'z'), 'utf8')).toBe(large('4'));
      expect(scratch.git(repo, 'status', '--porcelain', '--untracked-files=all')).toBe('?? mine.txt');
    },
    30_000,
  );
});

describe('backed up files', () => {
  it('are restored with their times, whatever a failed move has left', async () => {
    const repo = scratch.repository('kept');
    scratch.commit(repo, { a: 'a\n', 'd/b': 'b\n', x: 'x\n', 'y/z': 'z\n' }, 'files');
    symlinkSync('a', join(repo, 'l'));
    const before = picture(repo);
    const index = join(repo, '.git', 'index');
    const touched = [
      ...['a', 'd/b', 'l', 'missing', 'x', 'y/z'].map((path) => ({ path, isNew: false })),
      ...['new/deep/f', 'x/inside', 'y', 'never'].map((path) => ({ path, isNew: path !== 'y' })),
    ];
    const kept = await CheckoutBackup.keep(repo, join(repo, '.git'), index, touched);
    const indexBefore = readFileSync(index);
    // Imitates git on a full disk: old files are removed, and only some new ones are written.
    for (const path of ['a', 'd/b', 'l', 'x']) rmSync(join(repo, path));
    writeFileSync(join(repo, 'a'), 'to');
    rmSync(join(repo, 'd'), { recursive: true });
    rmSync(join(repo, 'y'), { recursive: true });
    mkdirSync(join(repo, 'new/deep'), { recursive: true });
    writeFileSync(join(repo, 'new/deep/f'), 'half');
    mkdirSync(join(repo, 'x'));
    writeFileSync(join(repo, 'x/inside'), 'half');
    writeFileSync(`${index}.new`, 'another index');
    renameSync(`${index}.new`, index);
    expect(await kept.restore(index)).toEqual([]);
    expect(picture(repo)).toEqual(before);
    expect(readFileSync(index).equals(indexBefore)).toBe(true);
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('?? l');
  });

  it('are not written through a link that leads out of the checkout', async () => {
    const repo = scratch.repository('linked');
    const outside = join(scratch.folder, 'outside');
    scratch.write(outside, { f: 'theirs\n' });
    const kept = await CheckoutBackup.keep(repo, join(repo, '.git'), join(repo, '.git', 'index'), [
      { path: 'd/f', isNew: true },
    ]);
    symlinkSync(outside, join(repo, 'd'));
    await kept.restore(join(repo, '.git', 'index'));
    expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('theirs\n');
  });
});
