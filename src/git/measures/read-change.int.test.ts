import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { readChange } from './read-change.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

const repo = scratch.repository();
const base = scratch.commit(repo, {
  'a.txt': 'one\ntwo\n',
  'link.txt': 'text\n',
  'old.txt': 'gone\n',
  'run.sh': 'x\n',
});
rmSync(join(repo, 'old.txt'));
rmSync(join(repo, 'link.txt'));
symlinkSync('a.txt', join(repo, 'link.txt'));
writeFileSync(join(repo, 'data.bin'), Buffer.from([0, 1, 2, 0]));
chmodSync(join(repo, 'run.sh'), 0o755);
scratch.commit(repo, {});
const head = scratch.commit(repo, {
  'a.txt': 'one\n2\nthree\n',
  '.gitattributes': '*.ts binary\n',
  'src/x.ts': 'export {};\n',
  'src/a b\nü.ts': '\u001B[31mred\n',
  'src/large.ts': 'line\n'.repeat(10_000),
});
const stateDir = join(scratch.folder, 'state');
const importer = new OwnRepositoryImporter({ stateDir, projectId: 'p', path: repo });
const read = async (options = {}) =>
  valueOf(await readChange(valueOf(await importer.with(base, head)), base, head, options));

it('reads each file with its action, its lines and its patch, also one that the branch marks as binary', async () => {
  const change = await read();
  expect(change).toMatchObject({ base, head, commits: 2, total: { files: 9, additions: 10_006, deletions: 3 } });
  const rows = change.files.map(({ path, action, additions, deletions, isBinary, isCut }) =>
    [path, action, `+${additions}`, `-${deletions}`, isBinary && 'binary', isCut && 'cut'].filter(Boolean).join(' '),
  );
  expect(rows).toEqual([
    '.gitattributes created +1 -0',
    'a.txt modified +2 -1',
    'data.bin created +0 -0 binary',
    'link.txt modified +1 -1',
    'old.txt deleted +0 -1',
    'run.sh modified +0 -0',
    'src/a b\nü.ts created +1 -0',
    'src/large.ts created +10000 -0 cut',
    'src/x.ts created +1 -0',
  ]);
  const patchOf = (path: string) => change.files.find((each) => each.path === path)?.patch;
  expect(patchOf('a.txt')).toMatch(/^diff --git a\/a.txt b\/a.txt\n[^]*@@\n one\n-two\n\+2\n\+three\n$/);
  expect(patchOf('link.txt')).toMatch(/deleted file mode 100644[^]*new file mode 120000/);
  expect(patchOf('run.sh')).toContain('new mode 100755');
  expect(patchOf('data.bin')).toBeNull();
  expect(patchOf('src/x.ts')).toContain('+export {};');
});

it('reads only the files and folders that are named, literally', async () => {
  expect((await read({ paths: ['src'] })).files.map(({ path }) => path)).toEqual([
    'src/a b\nü.ts',
    'src/large.ts',
    'src/x.ts',
  ]);
  const { files, total } = await read({ paths: ['src/*.ts', ':(top)a.txt'] });
  expect([files, total.files]).toEqual([[], 0]);
});

it('leaves out what is beyond the limits, and counts it', async () => {
  const few = await read({ maxFiles: 2, patches: false });
  expect(few.files.map(({ patch, isCut }) => [patch, isCut])).toEqual([
    [null, false],
    [null, false],
  ]);
  expect(few.total.files).toBe(9);
  const short = await read({ maxChars: 300 });
  expect(short.files.map(({ patch }) => patch ?? '').join('').length).toBeLessThanOrEqual(300);
  expect(short.files.at(-1)).toMatchObject({ path: 'src/x.ts', patch: null, isCut: true, additions: 1 });
});

it('reports a commit that the own repository does not have', async () => {
  const own = valueOf(await importer.with(base, head));
  expect(codeOf(await readChange(own, base, '0'.repeat(40)))).toBe('git/failed');
});
