import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inLongLane, someOf } from '../../../test/lanes.ts';
import { createWorktree } from './create.ts';
import { fillWorktree } from './fill.ts';
import { measureChange } from '../measures/measure-change.ts';
import { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { withUnhiddenFiles } from './unhidden-files.ts';
import { removeWorktree } from './remove.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { describeContent, readWorktreeContent } from './content.ts';
import { recordOrigin } from './origin.ts';

const NOTHING = { copied: {}, linked: [] };
const BASE = {
  'tracked.txt': 'as it was\n',
  'sub/tracked.txt': 'as it was\n',
  '.gitignore': 'node_modules/\n*.log\n!keep.log\n/build/*\n!/build/kept\n',
  'sub/.gitignore': 'out\n/top\na/b\n!x.log\n',
  'sub/de ep[1]/.gitignore': '*\n!.gitignore\n!seen\n',
};

let scratch: Scratch;
let repo: string;
let path: string;
let base: string;
let stateDir: string;

beforeEach(async () => {
  scratch = new Scratch();
  repo = scratch.repository();
  base = scratch.commit(repo, BASE);
  scratch.write(repo, { '.git/info/exclude': '*.local\n' });
  stateDir = join(scratch.folder, 'state');
  path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/t1', base: 'main' })).path;
  valueOf(await recordOrigin(stateDir, path, NOTHING));
});
afterEach(() => scratch.remove());

const measured = async (): Promise<string[]> =>
  valueOf(
    await measureChange(path, {
      base,
      stateDir,
      own: new OwnRepositoryImporter({ stateDir, projectId: 'p', path: repo }),
    }),
  ).files.map((file) => `${file.action} ${file.path}`);

const held = async (): Promise<string> =>
  describeContent(valueOf(await readWorktreeContent(path, { stateDir }))).join(', ');

/** What an agent may try, and what Baton still finds. */
const TRICKS: readonly (readonly [string, () => void, string[], string])[] = [
  [
    'rules in .git/info/exclude',
    () => (scratch.write(repo, { '.git/info/exclude': '*\n' }), scratch.write(path, { 'new.txt': 'x' })),
    ['created new.txt'],
    '1 untracked',
  ],
  [
    'a .gitignore that hides itself',
    () => scratch.write(path, { 'lib/.gitignore': '*\n', 'lib/new.txt': 'x' }),
    ['created lib/.gitignore', 'created lib/new.txt'],
    '2 untracked',
  ],
  [
    'a changed .gitignore',
    () => (scratch.write(path, { '.gitignore': '*\n' }), scratch.write(path, { 'new.txt': 'x' })),
    ['modified .gitignore', 'created new.txt'],
    '1 changed, 1 untracked',
  ],
  [
    'a .gitignore that is committed',
    () => {
      scratch.commit(path, { '.gitignore': '*.txt\n' });
      scratch.write(path, { 'new.txt': 'x' });
    },
    ['modified .gitignore', 'created new.txt'],
    '1 untracked, 1 unmerged',
  ],
  [
    'core.excludesFile',
    () => {
      scratch.write(scratch.folder, { mine: '*\n' });
      scratch.git(path, 'config', 'core.excludesFile', join(scratch.folder, 'mine'));
      scratch.write(path, { 'new.txt': 'x' });
    },
    ['created new.txt'],
    '1 untracked',
  ],
  [
    'assume-unchanged',
    () => {
      scratch.git(path, 'update-index', '--assume-unchanged', 'tracked.txt');
      scratch.write(path, { 'tracked.txt': 'changed\n' });
    },
    ['modified tracked.txt'],
    '1 changed',
  ],
  [
    'skip-worktree',
    () => {
      scratch.git(path, 'update-index', '--skip-worktree', 'tracked.txt', 'sub/tracked.txt');
      scratch.write(path, { 'tracked.txt': 'changed\n' });
    },
    ['modified tracked.txt'],
    '1 changed',
  ],
  [
    'both marks at once',
    () => {
      scratch.git(path, 'update-index', '--skip-worktree', 'tracked.txt');
      scratch.git(path, 'update-index', '--assume-unchanged', 'tracked.txt');
      scratch.write(path, { 'tracked.txt': 'changed\n' });
    },
    ['modified tracked.txt'],
    '1 changed',
  ],
  [
    'a sparse checkout that came later',
    () => {
      scratch.git(path, 'sparse-checkout', 'set', '--no-cone', '/tracked.txt');
      scratch.git(path, 'update-index', '--skip-worktree', 'tracked.txt');
      scratch.write(path, { 'tracked.txt': 'changed\n' });
    },
    [
      'deleted .gitignore',
      'deleted README.md',
      'deleted sub/.gitignore',
      'deleted sub/de ep[1]/.gitignore',
      'deleted sub/tracked.txt',
      'modified tracked.txt',
    ],
    '6 changed',
  ],
  [
    'the same size and time, and a git that trusts those',
    () => {
      scratch.git(path, 'config', 'core.trustctime', 'false');
      scratch.git(path, 'config', 'core.checkStat', 'minimal');
      const { mtime } = statSync(join(path, 'tracked.txt'));
      writeFileSync(join(path, 'tracked.txt'), 'AS IT WAS\n');
      utimesSync(join(path, 'tracked.txt'), mtime, mtime);
    },
    ['modified tracked.txt'],
    '1 changed',
  ],
  [
    'another folder as the work tree',
    () => {
      const other = join(scratch.folder, 'other');
      scratch.git(repo, 'worktree', 'add', '-q', '--detach', other, base);
      scratch.write(path, { 'new.txt': 'x' });
      scratch.git(path, 'config', 'extensions.worktreeConfig', 'true');
      scratch.git(path, 'config', '--worktree', 'core.worktree', other);
    },
    ['created new.txt'],
    '1 untracked',
  ],
  [
    'a repository inside',
    () => {
      mkdirSync(join(path, 'inner'));
      scratch.git(join(path, 'inner'), 'init', '-q');
      scratch.write(path, { 'inner/a': 'x', 'inner/b/c': 'x' });
    },
    ['created inner/a', 'created inner/b/c'],
    '2 untracked',
  ],
  [
    'a forced commit of what is ignored, undone in the worktree',
    () => {
      scratch.write(path, { 'big.log': 'x' });
      scratch.git(path, 'add', '--force', 'big.log');
      scratch.git(path, 'commit', '-q', '-m', 'ignored');
      scratch.git(path, 'rm', '-q', '--cached', 'big.log');
    },
    ['created big.log'],
    '1 staged, 1 unmerged',
  ],
];

describe('nothing in a worktree is hidden', () => {
  it.each(someOf(TRICKS, 0, 2, 5, 11))('by %s', async (_, trick, files, words) => {
    trick();
    expect((await measured()).toSorted()).toEqual(files.toSorted());
    expect(await held()).toBe(words);
    expect(await removeWorktree(repo, path, { stateDir })).toMatchObject({
      problem: { code: 'git/worktree-keeps-work' },
    });
  });

  inLongLane(() => {
    it('in the note of copied files: only files recorded at that time count', async () => {
      scratch.write(repo, { '.env.local': 'TOKEN=repository' });
      const filled = valueOf(await fillWorktree(path, { copy: ['.env.local'], link: [] }));
      valueOf(await recordOrigin(stateDir, path, filled));
      expect(await held()).toBe('');
      scratch.write(path, { '.env.local': 'TOKEN=precious' });
      const note = join(scratch.git(path, 'rev-parse', '--absolute-git-dir'), 'baton-workspace.json');
      writeFileSync(
        note,
        JSON.stringify({ copied: { '.env.local': 'forged', 'new.txt': 'forged' }, linked: ['new.txt'] }),
      );
      scratch.write(path, { 'new.txt': 'x' });
      valueOf(
        await recordOrigin(stateDir, path, valueOf(await fillWorktree(path, { copy: ['.env.local'], link: [] }))),
      );
      expect(await measured()).toEqual(['created new.txt']);
      expect(await held()).toBe('1 untracked, 1 configured');
    });
  });
});

it('files are neither copied through a link in the main checkout nor into one in the worktree', async () => {
  const outside = join(repo, '..', 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'key'), 'PRIVATE');
  symlinkSync(outside, join(repo, 'linked'));
  scratch.write(repo, { 'deep/conf/made': 'by an agent' });
  symlinkSync(outside, join(path, 'deep'));
  const filled = await fillWorktree(path, { copy: ['linked/key', 'deep/conf/made'], link: ['deep/conf'] });
  expect(valueOf(filled)).toEqual({ copied: {}, linked: [] });
  expect(readdirSync(outside)).toEqual(['key']);
});

describe('files ignored from the beginning', () => {
  it('are the files that git ignores at that commit, at every depth, and no work', async () => {
    scratch.write(path, {
      'node_modules/x/y': '',
      'a.log': '',
      'keep.log': '',
      'build/gone': '',
      'build/kept': '',
      'mine.local': '',
      'sub/out/x': '',
      'sub/deeper/out': '',
      'sub/top': '',
      'sub/deeper/top': '',
      'sub/a/b/c': '',
      'sub/deeper/a/b': '',
      'sub/x.log': '',
      'sub/deeper/x.log': '',
      'sub/y.log': '',
      'sub/de ep[1]/seen': '',
      'sub/de ep[1]/hidden': '',
      'sub/de ep1/hidden': '',
      '.baton/session/mission.yaml': '',
    });
    symlinkSync('nowhere', join(path, 'sub/link'));
    const plain = valueOf(await withUnhiddenFiles(path, { stateDir, rulesAt: base }, async (view) => view.untracked()));
    const git = scratch.git(path, 'ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean);
    expect(plain.toSorted()).toEqual(git.toSorted());
    expect(plain.length).toBe(9);
    expect((await measured()).length).toBe(9);
  });

  it("do not count if the machine's owner ignores them", async () => {
    scratch.write(path, { 'mine.local': 'x' });
    expect([await measured(), await held()]).toEqual([[], '']);
  });

  inLongLane(() => {
    it('count as work in every worktree if the rule appeared while a session worked', async () => {
      scratch.write(repo, { '.git/info/exclude': '*.local\n*.txt\n' });
      const first = path;
      path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/t2', base: 'main' })).path;
      valueOf(await recordOrigin(stateDir, path, NOTHING));
      scratch.write(path, { 'new.txt': 'x', 'mine.local': 'x' });
      expect([await measured(), await held()]).toEqual([['created new.txt'], '1 untracked']);
      valueOf(await removeWorktree(repo, first, { stateDir }));
      rmSync(join(path, 'new.txt'));
      valueOf(await removeWorktree(repo, path, { stateDir }));
      path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/t3', base: 'main' })).path;
      valueOf(await recordOrigin(stateDir, path, NOTHING));
      scratch.write(path, { 'new.txt': 'x', 'mine.local': 'x' });
      expect(await measured()).toEqual(['created new.txt']);
    });
  });

  it('count as work if the origin of the worktree is unknown', async () => {
    scratch.write(path, { 'mine.local': 'x' });
    const unknown = { stateDir: join(scratch.folder, 'elsewhere') };
    expect(describeContent(valueOf(await readWorktreeContent(path, unknown)))).toEqual(['1 untracked']);
  });

  inLongLane(() => {
    it('is read again for another worktree of the same name', async () => {
      valueOf(await removeWorktree(repo, path, { stateDir }));
      scratch.write(repo, { '.git/info/exclude': '*.mine\n' });
      path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/t1', base: 'main' })).path;
      valueOf(await recordOrigin(stateDir, path, NOTHING));
      scratch.write(path, { 'a.local': 'x', 'a.mine': 'x' });
      expect(await measured()).toEqual(['created a.local']);
    });
  });
});

inLongLane(() => {
  it('accepts an originally sparse checkout, except for existing files', async () => {
    scratch.git(repo, 'sparse-checkout', 'set', '--no-cone', '/tracked.txt');
    path = valueOf(await createWorktree(repo, { stateDir: scratch.folder, branch: 'feature/t2', base: 'main' })).path;
    scratch.git(path, 'sparse-checkout', 'set', '--no-cone', '/tracked.txt');
    valueOf(await recordOrigin(stateDir, path, NOTHING));
    expect([await measured(), await held()]).toEqual([[], '']);
    scratch.write(path, { 'sub/tracked.txt': 'changed' });
    expect(await measured()).toEqual(['modified sub/tracked.txt']);
  });
});

it("uses the repository's file settings from before agents worked, not those an agent sets", async () => {
  stateDir = join(scratch.folder, 'state-2');
  scratch.git(repo, 'config', 'core.autocrlf', 'true');
  valueOf(await recordOrigin(stateDir, path, NOTHING));
  scratch.write(path, { 'tracked.txt': 'as it was\r\n' });
  expect(await measured()).toEqual([]);
  scratch.git(repo, 'config', 'core.fileMode', 'false');
  path = valueOf(await createWorktree(repo, { stateDir, branch: 'feature/later', base: 'main' })).path;
  valueOf(await recordOrigin(stateDir, path, NOTHING));
  chmodSync(join(path, 'tracked.txt'), 0o755);
  expect(await measured()).toEqual(['modified tracked.txt']);
});
