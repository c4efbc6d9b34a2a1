import { rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { findViolations } from './violations.ts';
import { measureChange, type MeasuredFile, type MeasureRequest } from './measure-change.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

type Action = MeasuredFile['action'];
const RESULT = { version: '1', task_id: 'T001', status: 'completed', log: [], completed_at: '' } as const;

function textsOf(...args: Parameters<typeof findViolations>): string[] {
  return findViolations(...args).map(({ text }) => text);
}

const at = (path: string): Pick<MeasureRequest, 'stateDir' | 'own'> => ({
  stateDir: scratch.folder,
  own: new OwnRepositoryImporter({ stateDir: scratch.folder, projectId: basename(path), path }),
});

describe('the measured work of a session', () => {
  it('counts committed, staged, changed, new and deleted files, each once', async () => {
    const repo = scratch.repository('all');
    const base = scratch.commit(repo, { a: '1', b: '1', c: '1', 'wéird "name"': '1', '.gitignore': 'ignored\n' });
    scratch.commit(repo, { a: '2', committed: '1' });
    scratch.write(repo, { a: '3', b: '2', new: '1', ignored: '1', 'wéird "name"': '2' });
    scratch.git(repo, 'rm', '--quiet', 'c');
    scratch.write(repo, { staged: '1' });
    scratch.git(repo, 'add', 'staged');
    const measured = valueOf(await measureChange(repo, { base, ...at(repo) }));
    expect(Object.fromEntries(measured.files.map(({ path, action }) => [path, action]))).toEqual({
      a: 'modified',
      b: 'modified',
      c: 'deleted',
      committed: 'created',
      new: 'created',
      staged: 'created',
      'wéird "name"': 'modified',
    });
    expect(measured.commits).toBe(1);
  });

  it('counts nothing if nothing changed, or if it was undone', async () => {
    const repo = scratch.repository('nothing');
    const base = scratch.git(repo, 'rev-parse', 'HEAD');
    scratch.commit(repo, { a: '1' });
    scratch.git(repo, 'revert', '--no-edit', 'HEAD');
    const measured = valueOf(await measureChange(repo, { base, ...at(repo) }));
    expect(measured.files).toEqual([]);
    expect(textsOf({ max_files: 0 }, measured, null)).toEqual([]);
    expect(textsOf({ no_git_commit: true }, measured, null)).toEqual([
      'no_git_commit: HEAD is 2 commits ahead of the base',
    ]);
  });

  it('finds the eleventh file, the commit and the new dependency behind a result that claims success', async () => {
    const repo = scratch.repository('breaks');
    const base = scratch.commit(repo, {
      'package.json': '{"dependencies":{"a":"1"}}',
      'lib/package.json': '{"dependencies":{"b":"1"}}',
    });
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, 'x']));
    scratch.commit(repo, { ...files, 'package.json': '{"dependencies":{"a":"1","b":"1","left-pad":"1"}}' });
    const measured = valueOf(await measureChange(repo, { base, ...at(repo) }));
    const claimed = {
      ...RESULT,
      files_modified: [
        { path: 'f0', action: 'created' },
        { path: 'f99', action: 'created' },
      ],
    } as const;
    expect(textsOf({ max_files: 10, no_git_commit: true, no_new_deps: true }, measured, claimed)).toEqual([
      'max_files: 11 files differ from the base, 10 allowed',
      'no_git_commit: HEAD is 1 commit ahead of the base',
      'no_new_deps: npm left-pad (package.json)',
      'files_modified: listed but not changed: f99',
      'files_modified: changed but not listed: f1, f2, f3, f4, f5, f6, f7, f8, f9, package.json',
    ]);
  });
});

describe('the reported action of each file', () => {
  it('is compared with the measured action', async () => {
    const repo = scratch.repository('actions');
    const base = scratch.commit(repo, { kept: '1', gone: '1' });
    scratch.write(repo, { kept: '2', new: '1' });
    rmSync(join(repo, 'gone'));
    const measured = valueOf(await measureChange(repo, { base, ...at(repo) }));
    const says = (kept: Action, gone: Action, made: Action): string[] => {
      const files_modified = Object.entries({ kept, gone, new: made }).map(([path, action]) => ({ path, action }));
      return textsOf({}, measured, { ...RESULT, files_modified });
    };
    expect(says('modified', 'deleted', 'created')).toEqual([]);
    expect(says('created', 'deleted', 'modified')).toEqual([]);
    expect(says('deleted', 'modified', 'created')).toEqual([
      'files_modified: kept is modified, not deleted',
      'files_modified: gone is deleted, not modified',
    ]);
  });
});

describe('work that a session hides', () => {
  const MANIFEST = { 'package.json': '{"dependencies":{"a":"1"}}' };
  const WITH_FRESH = { 'package.json': '{"dependencies":{"a":"1","fresh":"1"}}' };
  const STRICT = { max_files: 0, no_git_commit: true, no_new_deps: true };
  const branch = 'feature/t1';
  const FRESH = 'no_new_deps: npm fresh (package.json)';
  const FILE = 'max_files: 1 files differ from the base, 0 allowed';

  it.each<[string, (repo: string) => void, readonly string[]]>([
    [
      'on its branch, which it has left',
      (repo) => {
        scratch.commit(repo, WITH_FRESH);
        scratch.git(repo, 'switch', '--quiet', '--detach', 'HEAD~1');
      },
      [FILE, 'no_git_commit: the branch is 1 commit ahead of the base', FRESH],
    ],
    [
      'in a commit, under a file that is as it was',
      (repo) => {
        scratch.commit(repo, WITH_FRESH);
        scratch.write(repo, MANIFEST);
      },
      [FILE, 'no_git_commit: HEAD is 1 commit ahead of the base', FRESH],
    ],
    [
      'in the index alone',
      (repo) => {
        scratch.write(repo, WITH_FRESH);
        scratch.git(repo, 'add', '--all');
        scratch.write(repo, MANIFEST);
      },
      [FILE, FRESH],
    ],
    [
      'behind a link',
      (repo) => {
        scratch.write(repo, { 'real.json': WITH_FRESH['package.json'] });
        rmSync(join(repo, 'package.json'));
        symlinkSync('real.json', join(repo, 'package.json'));
      },
      ['max_files: 2 files differ from the base, 0 allowed', FRESH],
    ],
    [
      'behind a link to a private file, whose content stays there',
      (repo) => {
        scratch.write(scratch.folder, { 'secret.json': WITH_FRESH['package.json'] });
        rmSync(join(repo, 'package.json'));
        symlinkSync(join(scratch.folder, 'secret.json'), join(repo, 'package.json'));
      },
      [FILE],
    ],
    [
      'behind a link to what never ends',
      (repo) => {
        rmSync(join(repo, 'package.json'));
        symlinkSync('/dev/zero', join(repo, 'package.json'));
      },
      [FILE],
    ],
  ])('is found: %s', async (name, put, found) => {
    const repo = scratch.repository(name);
    const base = scratch.commit(repo, MANIFEST);
    scratch.git(repo, 'switch', '--quiet', '--create', branch);
    put(repo);
    const measured = valueOf(await measureChange(repo, { base, branch, ...at(repo) }));
    expect(textsOf(STRICT, measured, null)).toEqual(found);
  });

  it('is no new dependency if another manifest of the base names it, even one with an unusual name', async () => {
    const repo = scratch.repository('odd');
    const base = scratch.commit(repo, { ...MANIFEST, 'pä "ck"\tage/package.json': '{"dependencies":{"fresh":"1"}}' });
    scratch.write(repo, WITH_FRESH);
    const measured = valueOf(await measureChange(repo, { base, ...at(repo) }));
    expect(measured.dependencies.added).toEqual([]);
  });
});
