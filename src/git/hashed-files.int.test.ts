import { chmodSync, copyFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCommittedFiles, openHashedFiles } from './committed-files.ts';
import { Scratch } from './scratch.cases.ts';

let scratch: Scratch;
let repo: string;
let head: string;
beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
  symlinkSync('a/b/c.txt', join(repo, 'link'));
  scratch.commit(repo, { 'top.txt': 'top é\n', 'other.txt': 'other\n', 'a/b/c.txt': 'c\n', 'a/d.txt': 'd\n' });
  head = scratch.git(repo, 'rev-parse', 'HEAD');
});
afterEach(() => scratch.remove());

const objectPath = (name: string): string => join(repo, '.git/objects', name.slice(0, 2), name.slice(2));

/** Replaces one loose object's bytes by another's, as an agent could. */
function overwrite(name: string, by: string): void {
  chmodSync(objectPath(name), 0o644);
  copyFileSync(objectPath(by), objectPath(name));
}

it('lists and reads the same files as git', async () => {
  const [hashed, plain] = [openHashedFiles(repo, head), openCommittedFiles(repo, head)];
  for (const path of ['', 'a', 'a/b', 'a/d.txt', 'top.txt', 'link', 'none', 'a/none/x', 'top.txt/x']) {
    const [ours, theirs] = [await hashed.list(path), await plain.list(path)];
    const byPath = (one: { path: string }, other: { path: string }) => (one.path < other.path ? -1 : 1);
    expect([path, ours.toSorted(byPath)]).toEqual([path, theirs.toSorted(byPath)]);
    for (const file of ours) expect(await hashed.read(file)).toEqual(await plain.read(file));
  }
  expect(hashed.damage).toBeUndefined();
});

it('reads packed objects, and repositories with SHA-256', async () => {
  scratch.git(repo, 'repack', '-adq');
  expect(await openHashedFiles(repo, head).list('a')).toHaveLength(2);
  const other = join(scratch.folder, 'sha256');
  scratch.git(scratch.folder, 'init', '--quiet', '--object-format=sha256', other);
  scratch.commit(other, { 'a/x.txt': 'x\n' });
  const files = openHashedFiles(other, scratch.git(other, 'rev-parse', 'HEAD'));
  const [file] = await files.list('a/x.txt');
  expect(file && (await files.read(file))).toEqual({ ok: true, value: 'x\n' });
});

describe('an object that was overwritten', () => {
  it.each([
    ['a file', 'top.txt', 'other.txt'],
    ['a folder', 'a', 'a/b'],
    ['the top folder', '', 'a'],
  ])('(%s) is reported, although git reads it without an error', async (_, path, by) => {
    const [name, other] = [path, by].map((each) => scratch.git(repo, 'rev-parse', `${head}:${each}`)) as [
      string,
      string,
    ];
    overwrite(name, other);
    const files = openHashedFiles(repo, head);
    for (const file of await files.list(path)) await files.read(file);
    expect(files.damage?.problem).toMatchObject({ code: 'git/damaged-object', message: expect.stringContaining(name) });
  });

  it('(the commit) is reported', async () => {
    overwrite(head, scratch.git(repo, 'rev-parse', `${head}~1`));
    const files = openHashedFiles(repo, head);
    expect(await files.list('')).toEqual([]);
    expect(files.damage?.problem.message).toContain(`commit ${head} is missing or damaged`);
  });
});

it('reports a missing object', async () => {
  const name = scratch.git(repo, 'rev-parse', `${head}:top.txt`);
  rmSync(objectPath(name));
  const files = openHashedFiles(repo, head);
  const [file] = await files.list('top.txt');
  expect(file && (await files.read(file))).toMatchObject({ ok: false, problem: { code: 'git/damaged-object' } });
});
