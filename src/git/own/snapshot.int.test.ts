import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { makeSnapshot, readSnapshot } from './snapshot.ts';
import { OwnRepositoryImporter } from './transfer-commits.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

let count = 0;

async function makeWorktree() {
  count += 1;
  const path = scratch.repository(`repo-${count}`);
  const head = scratch.commit(path, {
    '.gitignore': '*.log\n.env\n',
    'a.txt': 'one\n',
    'gone.txt': 'x\n',
    'dir/b.txt': 'b\n',
  });
  const stateDir = join(scratch.folder, `state-${count}`);
  mkdirSync(stateDir);
  const own = valueOf(await new OwnRepositoryImporter({ stateDir, projectId: 'p', path }).with(head));
  return { path, head, own };
}

describe('a snapshot of uncommitted work', () => {
  it('has changed, new and removed files, and no ignored ones', async () => {
    const { path, head, own } = await makeWorktree();
    scratch.write(path, { 'a.txt': 'two\r\n', 'new "file" ü.txt': 'n\n', 'build.log': 'no', '.env': 'KEY=1' });
    writeFileSync(join(path, 'run.sh'), Buffer.from([0xff, 0x00, 0x0a]));
    chmodSync(join(path, 'run.sh'), 0o755);
    symlinkSync('/etc/hostname', join(path, 'link'));
    rmSync(join(path, 'gone.txt'));
    rmSync(join(path, 'dir'), { recursive: true });
    scratch.write(path, { dir: 'a file now\n' });
    const index = readFileSync(join(path, '.git/index'));
    const made = valueOf(await makeSnapshot(own, { worktree: path, head }));
    expect(made?.left).toEqual([]);
    const sha = made?.sha ?? '';
    expect(scratch.git(own.gitDir, 'rev-parse', `${sha}^`)).toBe(head);
    const names = scratch.git(own.gitDir, '-c', 'core.quotePath=false', 'ls-tree', '-r', '-z', '--name-only', sha);
    expect(names.split('\0').filter(Boolean)).toEqual([
      '.gitignore',
      'README.md',
      'a.txt',
      'dir',
      'link',
      'new "file" ü.txt',
      'run.sh',
    ]);
    expect(readFileSync(join(path, '.git/index'))).toEqual(index);
    expect(scratch.git(path, 'status', '--porcelain')).not.toBe('');
    const changes = valueOf(await readSnapshot(own, { sha, head }));
    const texts = changes.map(({ path: name, content, mode }) => [name, content?.toString('latin1') ?? null, mode]);
    expect(texts).toEqual([
      ['dir/b.txt', null, '000000'],
      ['gone.txt', null, '000000'],
      ['a.txt', 'two\r\n', '100644'],
      ['dir', 'a file now\n', '100644'],
      ['link', '/etc/hostname', '120000'],
      ['new "file" ü.txt', 'n\n', '100644'],
      ['run.sh', '\xFF\0\n', '100755'],
    ]);
    expect(valueOf(await makeSnapshot(own, { worktree: path, head }))?.sha).toBe(sha);
  });

  it('is null for a clean worktree', async () => {
    const { path, head, own } = await makeWorktree();
    expect(await makeSnapshot(own, { worktree: path, head })).toEqual({ ok: true, value: null });
  });

  it('leaves out large files by name, and does not follow a folder that is a link', async () => {
    const { path, head, own } = await makeWorktree();
    writeFileSync(join(path, 'large.bin'), Buffer.alloc(17 * 1024 * 1024));
    rmSync(join(path, 'dir'), { recursive: true });
    mkdirSync(join(scratch.folder, 'private'), { recursive: true });
    scratch.write(join(scratch.folder, 'private'), { 'b.txt': 'secret' });
    symlinkSync(join(scratch.folder, 'private'), join(path, 'dir'));
    const made = valueOf(await makeSnapshot(own, { worktree: path, head }));
    expect(made?.left).toEqual(['large.bin']);
    const changes = valueOf(await readSnapshot(own, { sha: made?.sha ?? '', head }));
    expect(changes.map(({ path: name, mode }) => `${name} ${mode}`)).toEqual(['dir/b.txt 000000', 'dir 120000']);
  });
});
