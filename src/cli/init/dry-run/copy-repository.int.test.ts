import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyRepository, type CopySource } from './copy-repository.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-copy-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

const AUTHOR = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', '-c', 'protocol.file.allow=always'];

function git(cwd: string, ...args: string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', [...AUTHOR, ...args], { cwd, env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function makeRepository(name: string, ...init: string[]): string {
  const top = join(folder, name);
  git(folder, 'init', '--quiet', '--initial-branch=main', ...init, top);
  writeFileSync(join(top, 'made'), 'one\n');
  git(top, 'add', 'made');
  git(top, 'commit', '--quiet', '--message=one');
  return top;
}

function sourceOf(top: string): CopySource {
  return { top, commonDir: join(top, '.git'), branch: 'main', sha: git(top, 'rev-parse', 'HEAD') };
}

it.each(['sha1', 'sha256'])('copies a repository of the object format %s', async (format) => {
  const top = makeRepository('top', `--object-format=${format}`);
  const copy = join(folder, 'copy');
  expect(await copyRepository(sourceOf(top), copy)).toMatchObject({ ok: true });
  expect(readFileSync(join(copy, 'made'), 'utf8')).toBe('one\n');
  expect(git(copy, 'rev-parse', 'HEAD')).toBe(git(top, 'rev-parse', 'HEAD'));
  expect(git(copy, 'remote')).toBe('');
});

it('reaches the clones of submodules, and leaves them alone when it is removed', async () => {
  makeRepository('library');
  const top = makeRepository('top');
  git(top, 'submodule', '--quiet', 'add', join(folder, 'library'), 'library');
  git(top, 'commit', '--quiet', '--message=two');
  const copy = join(folder, 'copy');
  expect(await copyRepository(sourceOf(top), copy)).toMatchObject({ ok: true });
  expect(existsSync(join(copy, '.git/modules/library/objects'))).toBe(true);
  rmSync(copy, { recursive: true });
  expect(existsSync(join(top, '.git/modules/library/objects'))).toBe(true);
});

it('refuses a shallow clone', async () => {
  const top = makeRepository('top');
  writeFileSync(join(top, 'made'), 'two\n');
  git(top, 'commit', '--quiet', '--all', '--message=two');
  git(folder, 'clone', '--quiet', '--depth=1', `file://${top}`, 'shallow');
  expect(await copyRepository(sourceOf(join(folder, 'shallow')), join(folder, 'copy'))).toMatchObject({
    ok: false,
    problem: { code: 'git/shallow-repository', hint: expect.stringContaining('--unshallow') },
  });
});
