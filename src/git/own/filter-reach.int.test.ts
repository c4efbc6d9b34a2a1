import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { makeCheckout } from '../checkout/make-checkout.ts';
import { advanceBranch } from '../merge/advance-branch.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { createWorktree } from '../worktree/create.ts';
import { OwnRepositoryImporter } from './transfer-commits.ts';
import { readFilterAccess } from './with-checkout.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

const URL = 'https://git.example.org/repo.git';
const ASK = 'cat >/dev/null; git config remote.origin.url; git config lfs.storage; git config test.login';

it('a filter finds the address of origin and the login in worktrees, in the main checkout and in checks', async () => {
  const repo = scratch.repository();
  const stateDir = join(scratch.folder, 'state');
  scratch.git(repo, 'config', 'remote.origin.url', URL);
  const from = scratch.commit(repo, { '.gitattributes': '*.bin filter=ask\n' });
  scratch.git(repo, 'switch', '--quiet', '--create', 'work');
  const to = scratch.commit(repo, { 'a.bin': 'pointer\n' });
  scratch.git(repo, 'switch', '--quiet', 'main');
  const own = valueOf(await new OwnRepositoryImporter({ stateDir, projectId: 'p', path: repo }).with(from, to));
  const global = join(scratch.folder, 'global');
  writeFileSync(global, `[filter "ask"]\n\tsmudge = "${ASK}"\n\tclean = echo pointer\n[test]\n\tlogin = mine\n`);
  process.env['GIT_CONFIG_GLOBAL'] = global;
  const read = (folder: string): string => readFileSync(join(folder, 'a.bin'), 'utf8');
  const here = `${URL}\n${join(repo, '.git', 'lfs')}\nmine\n`;
  const { path } = valueOf(await createWorktree(repo, { stateDir, branch: 'feature/x', base: to }));
  expect(read(path)).toBe(here);
  expect(valueOf(await advanceBranch(own, { branch: 'main', from, to }))).toBe('advanced');
  expect(read(repo)).toBe(here);
  const folder = join(scratch.folder, 'checkout');
  const request = { sha: to, base: from, filters: ['ask'], main: { name: 'main', sha: from }, stateDir };
  valueOf(await makeCheckout(own, request, folder));
  // Agents can write to the repository's storage, so a check does not read it.
  expect(read(folder)).toBe(`${URL}\nmine\n`);
});

it.each(['ext::sh -c evil', '-oProxyCommand=evil', 'ssh://-oProxyCommand=evil/x'])(
  'an address that would run a program is not passed on: %s',
  async (url) => {
    const repo = scratch.repository(`odd-${url.length}`);
    scratch.git(repo, 'config', 'remote.origin.url', url);
    expect((await readFilterAccess(repo, ['-c', 'filter.ask.smudge=cat'])).settings.join(' ')).not.toMatch(
      /=(?:ext|-|ssh)/,
    );
  },
);
