import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = ['*.{json,md}', 'LICENSE', '.npmrc', 'bin', 'docs', 'examples', 'runbooks', 'scripts', 'src'];

export interface Installed {
  /** A folder that contains only what npm installed. */
  readonly folder: string;
  readonly packageFolder: string;
  readonly tarball: string;
}

/**
 * Runs `npm pack`, and installs the file without network or cache. The pack is made in a copy, because other tests
 * build in the clone.
 */
export function installPackage(place: string): Installed {
  const copy = join(place, 'clone');
  const folder = join(place, 'empty');
  mkdirSync(copy);
  mkdirSync(folder);
  for (const part of globSync(PARTS, { cwd: ROOT })) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', place], { cwd: copy });
  const tarball = join(place, globSync('*.tgz', { cwd: place })[0] ?? '');
  const offline = ['--offline', '--no-audit', '--no-fund', '--cache', join(place, 'cache')];
  execFileSync('npm', ['install', '--silent', ...offline, tarball], { cwd: folder });
  return { folder, tarball, packageFolder: join(folder, 'node_modules/batonctl') };
}
