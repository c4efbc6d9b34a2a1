import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { freshCheckoutPath, fingerprintFiles, restoreFiles, type FileFingerprints } from './file-marks.ts';
import type { GitResult } from '../run-git.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

let count = 0;
let made = 0;
let folder: string;
let marks: FileFingerprints | undefined;

/** Stands for the checkout of the commit. */
const make = async (into: string): Promise<GitResult<string>> => {
  made += 1;
  rmSync(into, { recursive: true, force: true });
  scratch.write(into, { 'src/a.ts': 'a\n', 'src/deep/b.ts': 'b\n', 'lint.json': '{}\n' });
  scratch.write(into, { 'bin/run': '#!/bin/sh\n' }, 0o755);
  symlinkSync('src/a.ts', join(into, 'link'));
  scratch.write(join(into, '.git'), { config: 'x\n' });
  return Promise.resolve({ ok: true, value: into });
};
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const restore = async (): Promise<string> => valueOf(await restoreFiles(folder, marks, make));

beforeEach(async () => {
  count += 1;
  folder = join(scratch.folder, `checkout${count}`);
  await make(folder);
  marks = await fingerprintFiles(folder);
  made = 0;
});

describe('the files of a commit between two checks', () => {
  it('are unchanged if no check changed them, and files added by checks stay', async () => {
    scratch.write(folder, { 'node_modules/p/index.js': '1', 'src/new.ts': 'n' });
    await restore();
    expect(made).toBe(0);
    expect([read('node_modules/p/index.js'), read('src/new.ts')]).toEqual(['1', 'n']);
  });

  it('get their bytes again, and no others do', async () => {
    scratch.write(folder, { 'src/a.ts': 'evil\n', 'node_modules/p/index.js': '1' });
    rmSync(join(folder, 'lint.json'));
    await restore();
    expect([read('src/a.ts'), read('lint.json'), read('node_modules/p/index.js')]).toEqual(['a\n', '{}\n', '1']);
    expect(existsSync(freshCheckoutPath(folder))).toBe(false);
  });

  it('include the git folder, which decides what git tells the next check', async () => {
    scratch.write(join(folder, '.git'), { 'hooks/pre-commit': 'exit 0\n', 'info/exclude': '*\n' });
    execFileSync('mkfifo', [join(folder, '.git/index')]);
    await restore();
    expect(['config', 'hooks', 'info', 'index'].filter((name) => existsSync(join(folder, '.git', name)))).toEqual([
      'config',
    ]);
    rmSync(join(folder, '.git'), { recursive: true });
    symlinkSync('/', join(folder, '.git'));
    await restore();
    expect(read('.git/config')).toBe('x\n');
  });

  it('replace a link, a pipe or a folder that a check put in their place', async () => {
    const elsewhere = join(scratch.folder, `elsewhere${count}`);
    renameSync(join(folder, 'src'), elsewhere);
    symlinkSync(elsewhere, join(folder, 'src'));
    for (const name of ['lint.json', 'link', 'bin/run']) rmSync(join(folder, name));
    execFileSync('mkfifo', [join(folder, 'lint.json')]);
    mkdirSync(join(folder, 'link'));
    symlinkSync(join(elsewhere, 'a.ts'), join(folder, 'bin/run'));
    await restore();
    scratch.write(elsewhere, { 'a.ts': 'evil\n' });
    expect([read('src/a.ts'), read('src/deep/b.ts'), read('lint.json'), read('link')]).toEqual([
      'a\n',
      'b\n',
      '{}\n',
      'a\n',
    ]);
    expect(statSync(join(folder, 'bin/run')).mode & 0o111).not.toBe(0);
    expect(await fingerprintFiles(folder)).toEqual(marks);
  });

  it('are recreated with the whole folder if they could not be fingerprinted', async () => {
    scratch.write(folder, { 'src/a.ts': 'evil\n' });
    valueOf(await restoreFiles(folder, undefined, make));
    expect([made, read('src/a.ts')]).toEqual([1, 'a\n']);
  });
});
