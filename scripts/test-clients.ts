import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fields, fieldsInJson, fieldsOf, textOf } from '../src/protocol/shape/read-unknown.ts';
import { writeShims } from './client-programs.ts';

/**
 * `npm run test:clients`: tests the agents' own programs, at pinned versions, with scripted models on loopback. The
 * programs are installed once into a cache folder, without running install scripts. `--newest` installs the newest
 * releases into a separate folder each time. Other arguments are passed to vitest.
 */
const root = join(import.meta.dirname, '..');
const pinned = join(root, 'test/clients/pinned');
const isNewest = process.argv.includes('--newest');
const cache = join(root, isNewest ? '.cache/clients-newest' : '.cache/clients');
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'];

if (isNewest) installNewest();
else if (!isInstalled()) installPinned();
const args = process.argv.slice(2).filter((arg) => arg !== '--newest');
process.env['BATON_TEST_CLIENTS'] = join(cache, 'bin');
run('vitest', ['run', '--config', 'test/clients/vitest.config.ts', ...args], root);

function isInstalled(): boolean {
  const installed = join(cache, 'installed-lock.json');
  return existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lock(), 'utf8');
}

function installPinned(): void {
  rmSync(cache, { recursive: true, force: true });
  cpSync(pinned, cache, { recursive: true });
  run('npm', ['ci', ...quiet], cache);
  writeShims(join(cache, 'bin'), join(cache, 'node_modules'));
  cpSync(lock(), join(cache, 'installed-lock.json'));
}

/** Unchanged packages are not downloaded again. */
function installNewest(): void {
  for (const old of ['bin', 'package-lock.json']) rmSync(join(cache, old), { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const versions = Object.entries(fieldsOf(readPackage(pinned)['dependencies']));
  const dependencies = Object.fromEntries(versions.map(([name]) => [name, 'latest']));
  writeFileSync(join(cache, 'package.json'), JSON.stringify({ private: true, dependencies }));
  run('npm', ['install', ...quiet], cache);
  writeShims(join(cache, 'bin'), join(cache, 'node_modules'));
  for (const [name, version] of versions) {
    const newest = textOf(readPackage(join(cache, 'node_modules', name))['version']);
    process.stdout.write(`${name} ${newest}${newest === version ? '' : ` (pinned: ${textOf(version)})`}\n`);
  }
}

function readPackage(folder: string): Fields {
  return fieldsInJson(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function lock(): string {
  return join(pinned, 'package-lock.json');
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
