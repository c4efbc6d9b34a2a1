import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Checks a commit out into a separate folder, with the installed packages of this checkout, so that one run can compare
 * two versions on one machine. Unlike a worktree, `git archive` leaves no trace in the repository.
 */
export function checkOutCommit(commit: string): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), `baton-at-${commit.replaceAll(/\W/g, '-')}-`));
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', path], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
