import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CheckoutBackup } from './checkout-backup.ts';

function scene() {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'baton-kept-')));
  onTestFinished(() => rmSync(top, { recursive: true }));
  const gitDir = join(top, '.git');
  mkdirSync(gitDir);
  writeFileSync(join(gitDir, 'index'), 'index');
  writeFileSync(join(top, 'a'), 'old');
  const keep = async (): Promise<CheckoutBackup> =>
    CheckoutBackup.keep(top, gitDir, join(gitDir, 'index'), [{ path: 'a', isNew: false }]);
  return { top, gitDir, keep, index: join(gitDir, 'index') };
}

it('removes the backups of a killed daemon, and nothing of the user', async () => {
  const { gitDir, keep } = scene();
  for (const name of ['baton-undo-aB3dEf', 'baton-undo-notes']) mkdirSync(join(gitDir, name));
  await (await keep()).discard();
  expect(readdirSync(gitDir).toSorted()).toEqual(['baton-undo-notes', 'index']);
});

it('keeps unrestored files, even after the next move', async () => {
  const { top, keep, index } = scene();
  const kept = await keep();
  rmSync(join(top, 'a'));
  mkdirSync(join(top, 'a', 'in-the-way'), { recursive: true });
  expect(await kept.restore(index)).toEqual(['a']);
  await (await keep()).discard();
  expect(readdirSync(kept.folder).map((name) => readFileSync(join(kept.folder, name), 'utf8'))).toContain('old');
});
