import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { importCommits } from '../own/transfer-commits.ts';
import { openOwnRepository, type OwnRepository } from '../own/own-repository.ts';
import { operatorIdentity, readOperatorConfig } from '../config.ts';
import { codeOf, Scratch, valueOf } from '../scratch.cases.ts';
import { advanceBranch } from './advance-branch.ts';
import { moveCheckout } from './move-checkout.ts';
import { createMergeCommit, COMBINE_METHODS, type CombineMethod } from './combine.ts';
import { inLongLane } from '../../../test/lanes.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** main has a and b. A branch from there has two commits, the second by another author. main has moved since. */
function parted(name: string): { repo: string; main: string; head: string } {
  const repo = scratch.repository(name);
  scratch.commit(repo, { a: '1\n', b: '1\n' }, 'base');
  scratch.git(repo, 'switch', '--quiet', '--create', 'work');
  scratch.commit(repo, { a: '2\n' }, 'one');
  scratch.write(repo, { c: '1\n' });
  scratch.git(repo, 'add', 'c');
  scratch.git(repo, 'commit', '--quiet', '--author=Grace <grace@example.org>', '--message=two');
  const head = scratch.git(repo, 'rev-parse', 'HEAD');
  scratch.git(repo, 'switch', '--quiet', 'main');
  const main = scratch.commit(repo, { b: '2\n' }, 'meanwhile');
  return { repo, main, head };
}

const files = (repo: string, sha: string): Record<string, string> =>
  Object.fromEntries(['a', 'b', 'c'].map((path) => [path, scratch.git(repo, 'show', `${sha}:${path}`)]));

async function combined(repo: string, head: string, onto: string, method: CombineMethod): Promise<string> {
  const done = valueOf(await createMergeCommit(repo, { head, onto, method, message: 'task: T1 — do it\n' }));
  if (done.kind !== 'combined') throw new Error(done.kind);
  return done.sha;
}

describe('a merge, made outside of every checkout', () => {
  it.each(COMBINE_METHODS)('%s joins both sides, and moves nothing', async (method) => {
    const { repo, main, head } = parted(`joins-${method}`);
    const sha = await combined(repo, head, main, method);
    expect(files(repo, sha)).toEqual({ a: '2', b: '2', c: '1' });
    expect(scratch.git(repo, 'rev-parse', 'main', 'work')).toBe(`${main}\n${head}`);
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('');
  });

  it('creates one commit or a merge by the operator, or one commit per author', async () => {
    const { repo, main, head } = parted('shapes');
    // Agents can write to the repository's configuration.
    scratch.git(repo, 'config', 'author.name', 'Eve');
    scratch.git(repo, 'config', 'user.name', 'Eve');
    const operator = operatorIdentity('author', await readOperatorConfig()).name;
    expect(operator).not.toBe('Eve');
    const log = (sha: string): string => scratch.git(repo, 'log', '--format=%an %s %p', `${main}..${sha}`);
    const short = (sha: string): string => scratch.git(repo, 'rev-parse', '--short', sha);
    expect(log(await combined(repo, head, main, 'squash'))).toBe(`${operator} task: T1 — do it ${short(main)}`);
    expect(log(await combined(repo, head, main, 'merge'))).toContain(
      `${operator} task: T1 — do it ${short(main)} ${short(head)}`,
    );
    expect(log(await combined(repo, head, main, 'rebase'))).toMatch(/^Grace two \w+\nAda one \w+$/);
  });

  inLongLane(() => {
    it.each(COMBINE_METHODS)('%s names the files of a conflict', async (method) => {
      const { repo, head } = parted(`conflict-${method}`);
      const main = scratch.commit(repo, { a: '3\n', 'c d "é"': '1\n' }, 'the same line');
      const done = await createMergeCommit(repo, { head, onto: main, method, message: 'm' });
      expect(valueOf(done)).toEqual({ kind: 'conflict', files: ['a'] });
    });
  });

  inLongLane(() => {
    it.each(COMBINE_METHODS)('%s does nothing if the main branch has everything', async (method) => {
      const { repo, main, head } = parted(`nothing-${method}`);
      const sha = await combined(repo, head, main, 'merge');
      expect(valueOf(await createMergeCommit(repo, { head, onto: sha, method, message: 'm' }))).toEqual({
        kind: 'nothing',
        sha,
      });
    });
  });

  inLongLane(() => {
    it('does not join histories that have nothing in common', async () => {
      const { repo, main } = parted('unrelated');
      scratch.git(repo, 'switch', '--quiet', '--orphan', 'other');
      const head = scratch.commit(repo, { z: '1' });
      expect(codeOf(await createMergeCommit(repo, { head, onto: main, method: 'squash', message: 'm' }))).toBe(
        'git/unrelated',
      );
    });
  });
});

/** Baton's own copy of a repository, with both sides of the merge. */
async function ownOf(repo: string, ...commits: string[]): Promise<OwnRepository> {
  const own = valueOf(await openOwnRepository(join(scratch.folder, 'state'), basename(repo), repo));
  valueOf(await importCommits(own, commits));
  return own;
}

async function combinedIn(own: OwnRepository, head: string, onto: string): Promise<string> {
  const done = valueOf(await createMergeCommit(own, { head, onto, method: 'squash', message: 'task: T1 — do it\n' }));
  if (done.kind !== 'combined') throw new Error(done.kind);
  return done.sha;
}

describe('moving the main branch', () => {
  it('updates the files of a checkout, and keeps uncommitted work', async () => {
    const { repo, main, head } = parted('along');
    const own = await ownOf(repo, main, head);
    scratch.write(repo, { b: 'mine\n' });
    const to = await combinedIn(own, head, main);
    expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('advanced');
    expect(scratch.git(repo, 'rev-parse', 'HEAD')).toBe(to);
    expect(readFileSync(join(repo, 'c'), 'utf8')).toBe('1\n');
    expect(readFileSync(join(repo, 'b'), 'utf8')).toBe('mine\n');
    expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to })), 'once more').toBe('advanced');
  });

  it('does nothing if uncommitted work blocks it', async () => {
    const { repo, main, head } = parted('in-the-way');
    const own = await ownOf(repo, main, head);
    scratch.write(repo, { a: 'mine\n' });
    const to = await combinedIn(own, head, main);
    expect(codeOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('git/checkout-in-the-way');
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(main);
    expect(readFileSync(join(repo, 'a'), 'utf8')).toBe('mine\n');
  });

  it.each([
    ['core.fileMode', 'false', (repo: string) => chmodSync(join(repo, 'a'), 0o755)],
    ['core.autocrlf', 'true', (repo: string) => writeFileSync(join(repo, 'a'), '1\r\n')],
    ['core.eol', 'crlf', (repo: string) => writeFileSync(join(repo, 'a'), '1\r\n')],
  ] as const)('goes by %s of the repository', async (name, value, touch) => {
    const { repo, main, head } = parted(`goes-by-${name}`);
    scratch.git(repo, 'config', name, value);
    touch(repo);
    // Git treats a different size as a change until the file is added.
    if (name === 'core.autocrlf') scratch.git(repo, 'add', 'a');
    if (name === 'core.eol') {
      scratch.git(repo, 'config', 'core.autocrlf', 'false');
      scratch.commit(repo, { '.gitattributes': '* text\n' });
    }
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('');
    const from = scratch.git(repo, 'rev-parse', 'main');
    const own = await ownOf(repo, main, head, from);
    const to = await combinedIn(own, head, from);
    expect(valueOf(await advanceBranch(own, { branch: 'main', from, to }))).toBe('advanced');
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(repo, 'a'), 'utf8')).toBe(name === 'core.fileMode' ? '2\n' : '2\r\n');
  });

  inLongLane(() => {
    it.each([
      ['the file itself', '.env', '.env'],
      ['a file in the place of a folder', '.env', '.env/secret'],
      ['a folder in the place of a file', '.env/secret', '.env'],
    ])('does not overwrite what git ignores: %s', async (name, mine, theirs) => {
      const { repo } = parted(`ignored ${name}`);
      const main = scratch.commit(repo, { '.gitignore': '.env\n' });
      scratch.git(repo, 'switch', '--quiet', '--create', 'adds');
      scratch.write(repo, { [theirs]: 'theirs\n' });
      scratch.git(repo, 'add', '--force', theirs);
      const head = scratch.commit(repo, { e: '1\n' });
      scratch.git(repo, 'switch', '--quiet', 'main');
      scratch.write(repo, { [mine]: 'mine\n' });
      const own = await ownOf(repo, main, head);
      const to = await combinedIn(own, head, main);
      const done = await advanceBranch(own, { branch: 'main', from: main, to });
      expect(codeOf(done)).toBe('git/checkout-in-the-way');
      expect(JSON.stringify(done)).toContain(mine);
      expect(readFileSync(join(repo, mine), 'utf8')).toBe('mine\n');
      expect(scratch.git(repo, 'rev-parse', 'main')).toBe(main);
    });
  });

  inLongLane(() => {
    it('replaces a folder by a file, and a file by a folder, if both are committed', async () => {
      const { repo } = parted('swapped');
      const main = scratch.commit(repo, { 'x/y': '1\n', z: '1\n' });
      scratch.git(repo, 'switch', '--quiet', '--create', 'swaps');
      scratch.git(repo, 'rm', '--quiet', '-r', 'x', 'z');
      const head = scratch.commit(repo, { x: '2\n', 'z/w': '2\n' });
      scratch.git(repo, 'switch', '--quiet', 'main');
      const own = await ownOf(repo, main, head);
      const to = await combinedIn(own, head, main);
      expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('advanced');
      expect(readFileSync(join(repo, 'x'), 'utf8') + readFileSync(join(repo, 'z/w'), 'utf8')).toBe('2\n2\n');
    });
  });

  it('does nothing if the main branch has moved, checked out or not', async () => {
    const { repo, main, head } = parted('moved');
    const own = await ownOf(repo, main, head);
    const to = await combinedIn(own, head, main);
    const newer = scratch.commit(repo, { d: '1' });
    expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('moved');
    scratch.git(repo, 'switch', '--quiet', 'work');
    expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('moved');
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(newer);
  });

  inLongLane(() => {
    it('leaves the files unchanged if one cannot be written', async () => {
      const { repo, main } = parted('unwritable');
      scratch.git(repo, 'switch', '--quiet', 'work');
      const head = scratch.commit(repo, { '.gitattributes': 'z* filter=broken\n', 'd/new': '1\n', z: '1\n', a: '4\n' });
      scratch.git(repo, 'switch', '--quiet', 'main');
      const own = await ownOf(repo, main, head);
      const to = await combinedIn(own, head, main);
      const config = join(scratch.folder, 'broken-filter');
      writeFileSync(config, '[filter "broken"]\n\tsmudge = false\n\trequired = true\n');
      process.env['GIT_CONFIG_GLOBAL'] = config;
      const done = await advanceBranch(own, { branch: 'main', from: main, to });
      process.env['GIT_CONFIG_GLOBAL'] = '/dev/null';
      expect(codeOf(done)).toBe('git/checkout-failed');
      expect(scratch.git(repo, 'status', '--porcelain', '--untracked-files=all')).toBe('');
      expect(scratch.git(repo, 'rev-parse', 'HEAD')).toBe(main);
      expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to })), 'without the filter').toBe(
        'advanced',
      );
    });
  });

  it('completes a merge after a daemon ended between files and branch', async () => {
    const { repo, main, head } = parted('between');
    const own = await ownOf(repo, main, head);
    const to = await combinedIn(own, head, main);
    const done = { act: async () => ({ ok: true, value: null }) as const, isDone: () => true };
    valueOf(await moveCheckout(own, repo, { from: main, to }, done));
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(main);
    expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('advanced');
    expect(scratch.git(repo, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(repo, 'c'), 'utf8')).toBe('1\n');
  });

  it('moves a branch that is not checked out', async () => {
    const { repo, main, head } = parted('bare');
    const own = await ownOf(repo, main, head);
    scratch.git(repo, 'switch', '--quiet', 'work');
    const to = await combinedIn(own, head, main);
    expect(valueOf(await advanceBranch(own, { branch: 'main', from: main, to }))).toBe('advanced');
    expect(scratch.git(repo, 'rev-parse', 'main')).toBe(to);
  });
});
