import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAuthorEnvironment } from './config.ts';
import { Scratch } from './scratch.cases.ts';

let scratch: Scratch;
let repo: string;
let env: Record<string, string>;

beforeEach(() => {
  scratch = new Scratch();
  repo = scratch.repository();
  for (const name of ['user.name', 'user.email']) scratch.try(repo, ['config', '--unset-all', name]);
  env = { HOME: scratch.folder, GIT_CONFIG_GLOBAL: join(scratch.folder, 'global'), GIT_CONFIG_NOSYSTEM: '1' };
  writeFileSync(join(scratch.folder, 'global'), '[user]\n\tname = Grace\n\temail = g@example.org\n');
});
afterEach(() => scratch.remove());

const variables = (name: string, email: string) => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
});

it("is the operator's identity, or that of the repository if it has one", async () => {
  expect(await readAuthorEnvironment(repo, env)).toEqual(variables('Grace', 'g@example.org'));
  scratch.git(repo, 'config', 'user.email', 'work@example.org');
  scratch.git(repo, 'config', 'author.name', 'Grace H.');
  expect(await readAuthorEnvironment(repo, env)).toEqual({
    ...variables('Grace', 'work@example.org'),
    GIT_AUTHOR_NAME: 'Grace H.',
  });
});

it('keeps the variables that the daemon has', async () => {
  const own = { ...env, GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org' };
  expect(await readAuthorEnvironment(repo, own)).toMatchObject({ GIT_AUTHOR_NAME: 'Ada', GIT_COMMITTER_NAME: 'Grace' });
});

it('is empty if the operator has no identity, or only a part of one', async () => {
  writeFileSync(join(scratch.folder, 'global'), '');
  expect(await readAuthorEnvironment(repo, env)).toEqual({});
  writeFileSync(join(scratch.folder, 'global'), '[user]\n\tname = Grace\n');
  expect(await readAuthorEnvironment(repo, env)).toEqual({});
});
