import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/baton-nodes');

/**
 * Returns a Node of this version from npm's packages of its binaries, cached for later runs. Undefined if it cannot be
 * downloaded.
 */
export function findNode(version: string): string | undefined {
  const folder = join(CACHE, version);
  const node = join(folder, 'package/bin/node');
  if (existsSync(node)) return node;
  const draft = `${folder}.${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true });
    execFileSync('npm', ['pack', '--silent', `${packageName()}@${version}`], { cwd: draft, stdio: 'ignore' });
    execFileSync('sh', ['-c', 'tar -xzf *.tgz && rm *.tgz'], { cwd: draft });
    renameSync(draft, folder);
    return node;
  } catch {
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function packageName(): string {
  const platform = `${process.platform}-${process.arch}`;
  return platform === 'darwin-arm64' ? `node-bin-${platform}` : `node-${platform}`;
}
