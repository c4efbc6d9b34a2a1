import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Checks one commit out into a separate folder, and runs its tests there. */
export function testsAt(repository: string, sha: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-tests-at-'));
  try {
    const archive = execFileSync('git', ['-C', repository, 'archive', sha]);
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    execFileSync('node', ['--test'], { cwd: folder, stdio: 'ignore' });
    return 'passed';
  } catch {
    return `failed at ${sha}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
