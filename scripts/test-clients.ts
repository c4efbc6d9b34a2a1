import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run test:clients`: the agents' own programs, at pinned versions, against scripted models on loopback. They are installed once into
 * a cache folder; their install scripts do not run. Extra arguments go to vitest.
 */
const root = join(import.meta.dirname, '..');
const pinned = join(root, 'test/clients/pinned');
const cache = join(root, '.cache/clients');

if (!isInstalled()) install();
run('vitest', ['run', '--config', 'test/clients/vitest.config.ts', ...process.argv.slice(2)], root);

function isInstalled(): boolean {
  const installed = join(cache, 'installed-lock.json');
  return existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lock(), 'utf8');
}

function install(): void {
  rmSync(cache, { recursive: true, force: true });
  cpSync(pinned, cache, { recursive: true });
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], cache);
  const modules = join(cache, 'node_modules');
  const claude = `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;
  writeShim('claude', [join(modules, claude)]);
  writeShim('codex', [process.execPath, join(modules, '@openai/codex/bin/codex.js')]);
  writeShim('gemini', [process.execPath, join(modules, '@google/gemini-cli/bundle/gemini.js')]);
  cpSync(lock(), join(cache, 'installed-lock.json'));
}

/** A folder for the PATH of a test, with the three programs and nothing else. */
function writeShim(name: string, command: readonly string[]): void {
  const path = join(cache, 'bin', name);
  mkdirSync(join(cache, 'bin'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`);
  chmodSync(path, 0o755);
}

function lock(): string {
  return join(pinned, 'package-lock.json');
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
