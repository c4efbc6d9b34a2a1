import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

/** Root can remove everything, so as root the test removes the folder as an unnamed other user. */
const uid = process.getuid?.() === 0 ? 12_345 : process.getuid?.();

it('removes folders without permissions, and nothing behind a link', () => {
  const top = mkdtempSync('/tmp/baton-remove-');
  onTestFinished(() => rmSync(top, { recursive: true }));
  const [tree, other] = [join(top, 'tree'), join(top, 'other')];
  for (const path of [other, join(tree, 'closed/below/file')]) mkdirSync(path, { recursive: true });
  symlinkSync(other, join(tree, 'closed/link'));
  if (process.getuid?.() === 0)
    for (const path of [
      top,
      other,
      tree,
      ...['closed', 'closed/below', 'closed/below/file'].map((each) => join(tree, each)),
    ])
      chownSync(path, uid ?? 0, uid ?? 0);
  for (const path of ['closed/below', 'closed']) chmodSync(join(tree, path), 0);
  chmodSync(other, 0o500);
  const script = `import(${JSON.stringify(join(import.meta.dirname, 'remove-tree.ts'))}).then((m) => m.removeTree(process.argv[1]))`;
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', script, tree], {
    ...(process.getuid?.() === 0 ? { uid, gid: uid } : {}),
    cwd: '/',
  });
  expect(existsSync(tree)).toBe(false);
  expect(statSync(other).mode & 0o777).toBe(0o500);
});
