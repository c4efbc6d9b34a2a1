import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { removeInspectionFolders, withInspectionFolder } from './inspection-folder.ts';
import { withCheckout } from './with-checkout.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

it('creates the git folder in the state folder, where no agent can write, and removes it', async () => {
  const repo = scratch.repository('place');
  const stateDir = join(scratch.folder, 'state');
  const objects = [join(repo, '.git', 'objects')];
  const seen: string[] = [];
  const use = (gitDir: string): void => {
    expect(dirname(gitDir)).toBe(join(stateDir, 'look'));
    expect([gitDir, dirname(gitDir)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    seen.push(gitDir);
  };
  valueOf(
    await withCheckout({ stateDir, path: repo, format: 'sha1', objects }, async ({ gitDir }) => {
      use(gitDir);
      return { ok: true, value: null };
    }),
  );
  const looked = { stateDir, gitDir: join(repo, '.git'), worktree: repo, format: 'sha1', objects } as const;
  await withInspectionFolder({ ...looked, index: 'copy' }, async ({ gitDir }) => use(gitDir));
  expect(seen.map((path) => existsSync(path))).toEqual([false, false]);
  await withInspectionFolder({ ...looked, index: 'copy' }, async ({ gitDir }) => {
    await removeInspectionFolders(stateDir);
    expect(existsSync(gitDir)).toBe(false);
  });
});
