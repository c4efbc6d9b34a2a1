import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { openOwnRepository, type OwnRepository, runOwnGit } from '../own/own-repository.ts';
import { importCommits } from '../own/transfer-commits.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { makeCheckout, removeCheckout } from './make-checkout.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());
afterEach(() => {
  process.env['GIT_CONFIG_GLOBAL'] = '/dev/null';
});

let count = 0;
interface Made {
  readonly own: OwnRepository;
  readonly folder: string;
  readonly make: (sha: string, filters?: readonly string[]) => ReturnType<typeof makeCheckout>;
}

/** Checks out from a repository whose main branch is at its current commit. */
async function from(repo: string): Promise<Made> {
  count += 1;
  const base = scratch.git(repo, 'rev-parse', 'main');
  const stateDir = join(scratch.folder, 'state');
  const own = valueOf(await openOwnRepository(stateDir, `c${count}`, repo));
  const folder = join(scratch.folder, 'checkouts', String(count));
  return {
    own,
    folder,
    make: async (sha, filters = []) => {
      valueOf(await importCommits(own, [sha, base]));
      return makeCheckout(own, { sha, base, filters, main: { name: 'main', sha: base }, stateDir }, folder);
    },
  };
}

const branch = (repo: string, files: Record<string, string>): string => {
  scratch.git(repo, 'switch', '--quiet', '-c', 'work');
  return scratch.commit(repo, files);
};

/** Commits the bytes unchanged, without git's conversions. */
function commitBlobs(repo: string, files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) {
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: repo, input: text, encoding: 'utf8' });
    scratch.git(repo, 'update-index', '--add', '--cacheinfo', `100644,${blob.trim()},${name}`);
  }
  scratch.git(repo, 'commit', '--quiet', '--message=files');
  return scratch.git(repo, 'rev-parse', 'HEAD');
}

/** Writes the operator's global configuration. */
function configure(text: string): void {
  const file = join(scratch.folder, `global-${count}`);
  writeFileSync(file, text);
  process.env['GIT_CONFIG_GLOBAL'] = file;
}

const read = (folder: string, name: string): string => readFileSync(join(folder, name), 'latin1');
const status = (folder: string): string => scratch.git(folder, 'status', '--porcelain');

describe('a checkout for checks', () => {
  it('has exactly one commit, replaces an earlier folder, and can be removed', async () => {
    const repo = scratch.repository('plain');
    scratch.write(repo, { 'bin/run': '#!/bin/sh\n' }, 0o755);
    symlinkSync('../README.md', join(repo, 'bin/link'));
    const sha = branch(repo, { a: '1\n', A: '2\n' });
    const { make, folder } = await from(repo);
    valueOf(await make(sha));
    scratch.write(folder, { left: 'behind', a: 'changed' });
    valueOf(await make(sha));
    expect(status(folder)).toBe('');
    expect(scratch.git(folder, 'rev-parse', 'HEAD')).toBe(sha);
    expect([read(folder, 'a'), read(folder, 'A')]).toEqual(['1\n', '2\n']);
    expect(lstatSync(join(folder, 'bin/run')).mode & 0o111).not.toBe(0);
    expect(readlinkSync(join(folder, 'bin/link'))).toBe('../README.md');
    expect(scratch.git(folder, 'log', '--format=%s', 'main..HEAD')).toBe('change');
    await removeCheckout(folder);
    await removeCheckout(folder);
    expect(existsSync(folder)).toBe(false);
    expect(scratch.git(repo, 'worktree', 'list')).not.toContain('checkouts');
  });

  it("is a separate repository: a check's changes reach neither Baton nor the user", async () => {
    const repo = scratch.repository('apart');
    const sha = branch(repo, { a: '1\n' });
    const { make, folder, own } = await from(repo);
    valueOf(await make(sha));
    const naming = (name: string): string =>
      spawnSync('grep', ['-rl', '--', name, join(folder, '.git')], { encoding: 'utf8' }).stdout;
    for (const path of [own.gitDir, repo, join(scratch.folder, 'state')]) expect(naming(path)).toBe('');
    expect(naming(sha), 'grep looks').not.toBe('');
    const refs = async (): Promise<string> => valueOf(await runOwnGit(own, ['for-each-ref'])).stdout;
    const before = await refs();
    for (const args of [
      ['update-ref', 'refs/heads/commits/x', sha],
      ['update-ref', '-d', 'refs/heads/main'],
      ['-c', 'user.name=x', '-c', 'user.email=x', 'commit', '--quiet', '--allow-empty', '-m', 'x'],
      ['gc', '--quiet', '--prune=now'],
      ['worktree', 'prune'],
    ]) {
      scratch.git(folder, ...args);
    }
    expect(await refs()).toBe(before);
    expect((await runOwnGit(own, ['fsck', '--strict', '--full'])).ok).toBe(true);
    expect(scratch.git(repo, 'rev-parse', 'main')).toHaveLength(40);
  });

  it('converts line ends and encodings as the main branch specifies', async () => {
    const repo = scratch.repository('conversions');
    scratch.commit(repo, {
      '.gitattributes': '*.bat text eol=crlf\n*.u16 text working-tree-encoding=UTF-16LE\nid.txt ident\n',
      'sub/.gitattributes': '*.txt eol=crlf\n',
    });
    scratch.git(repo, 'switch', '--quiet', '-c', 'work');
    const files = { 'a.bat': 'x\ny\n', 'b.u16': 'hé\n', 'sub/c.txt': 'c\n', 'c.txt': 'c\n', 'id.txt': '$Id$\n' };
    const sha = commitBlobs(repo, files);
    const { make, folder } = await from(repo);
    valueOf(await make(sha));
    expect(read(folder, 'a.bat')).toBe('x\r\ny\r\n');
    expect(readFileSync(join(folder, 'b.u16'), 'utf16le')).toBe('hé\n');
    expect([read(folder, 'sub/c.txt'), read(folder, 'c.txt')]).toEqual(['c\r\n', 'c\n']);
    expect(read(folder, 'id.txt')).toMatch(/^\$Id: [0-9a-f]{40} \$\n$/);
    expect(status(folder)).toBe('');
  });

  it('ignores the .gitattributes files of the branch, but contains them unchanged', async () => {
    const repo = scratch.repository('of-branch');
    scratch.commit(repo, {
      '.gitattributes': '*.bat text eol=crlf\n',
      'old/.gitattributes': '* eol=crlf\n',
      'old/a': '1\n',
    });
    const attributes = '* filter=evil\n*.bat -text eol=lf\nb.txt working-tree-encoding=UTF-16LE\n';
    scratch.git(repo, 'rm', '--quiet', 'old/.gitattributes');
    scratch.git(repo, 'switch', '--quiet', '-c', 'work');
    const sha = commitBlobs(repo, {
      '.gitattributes': attributes,
      'new/.gitattributes': '* text eol=crlf\n',
      'new/b.txt': 'b\n',
      'c.bat': 'c\n',
      'old/a': '2\n',
    });
    const { make, folder } = await from(repo);
    configure(`[filter "evil"]\n\tsmudge = echo ran >'${scratch.folder}/ran-branch'; cat\n`);
    valueOf(await make(sha, ['evil']));
    expect(existsSync(join(scratch.folder, 'ran-branch'))).toBe(false);
    expect(read(folder, '.gitattributes')).toBe(attributes);
    expect(read(folder, 'new/.gitattributes')).toBe('* text eol=crlf\n');
    expect(existsSync(join(folder, 'old/.gitattributes'))).toBe(false);
    expect([read(folder, 'new/b.txt'), read(folder, 'c.bat'), read(folder, 'old/a')]).toEqual([
      'b\n',
      'c\r\n',
      '2\r\n',
    ]);
    expect(scratch.git(folder, 'rev-parse', 'HEAD')).toBe(sha);
    expect(scratch.git(folder, 'diff', '--cached', '--name-only', 'HEAD')).toBe('');
  });

  it('accepts a file in place of a folder with attributes', async () => {
    const repo = scratch.repository('file-for-folder');
    scratch.commit(repo, { 'x/.gitattributes': '* eol=crlf\n', 'x/a': '1\n' });
    scratch.git(repo, 'rm', '-r', '--quiet', 'x');
    const sha = branch(repo, { x: 'a file\n', 'y/.gitattributes': '' });
    const { make, folder } = await from(repo);
    valueOf(await make(sha));
    expect([read(folder, 'x'), status(folder)]).toEqual(['a file\n', '']);
  });
});

describe('filters', () => {
  const needs = (name: string): string => {
    const repo = scratch.repository(name);
    scratch.commit(repo, { '.gitattributes': '[attr]big filter=upper\n*.big big\n', 'a.big': 'abc\n' });
    return repo;
  };

  it('fail the check with the path, the filter and the setting, unless an operator allowed them', async () => {
    const repo = needs('not-allowed');
    const ran = join(scratch.folder, 'ran-repo-config');
    const sha = branch(repo, { 'b.big': 'b\n', c: '1\n' });
    scratch.git(repo, 'config', 'filter.upper.smudge', `echo ran >>'${ran}'; cat`);
    scratch.git(repo, 'config', 'filter.upper.process', `echo ran >>'${ran}'`);
    const { make, folder } = await from(repo);
    configure('[filter "upper"]\n\tsmudge = tr a-z A-Z\n');
    const refused = await make(sha);
    expect(refused).toMatchObject({
      problem: {
        code: 'git/filter-not-allowed',
        message: "'a.big' and 1 more need the git filter 'upper', which is not allowed",
        hint: expect.stringContaining('git = { filters = ["upper"] }'),
      },
    });
    expect(codeOf(await make(sha, ['lfs']))).toBe('git/filter-not-allowed');
    expect(existsSync(join(folder, 'a.big'))).toBe(false);
    expect(existsSync(ran), 'the repository has no say').toBe(false);
  });

  it('run with the command of the operator if they are allowed', async () => {
    const repo = needs('allowed');
    const ran = join(scratch.folder, 'ran-allowed');
    scratch.git(repo, 'config', 'filter.upper.smudge', `echo ran >>'${ran}'; cat`);
    const sha = branch(repo, { c: '1\n' });
    const { make, folder } = await from(repo);
    expect(codeOf(await make(sha, ['upper']))).toBe('git/filter-missing');
    configure('[filter "upper"]\n\tsmudge = tr a-z A-Z\n\tclean = tr A-Z a-z\n[filter "other"]\n\tsmudge = false\n');
    valueOf(await make(sha, ['upper']));
    expect(read(folder, 'a.big')).toBe('ABC\n');
    expect(status(folder)).toBe('');
    expect(existsSync(ran)).toBe(false);
  });

  it('that fail are a failure if the operator marks them as required', async () => {
    const repo = needs('required');
    const { make } = await from(repo);
    configure('[filter "upper"]\n\tsmudge = false\n\trequired = true\n');
    expect(codeOf(await make(scratch.git(repo, 'rev-parse', 'HEAD'), ['upper']))).toBe('git/failed');
  });
});
