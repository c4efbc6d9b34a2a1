import { describe, expect, it } from 'vitest';
import { cacheKey, fillCommand, installFiles, packageFiles } from './cache-key.ts';

const files = [
  { path: 'package-lock.json', object: '1' },
  { path: 'Cargo.lock', object: '2' },
];
const source = { files, command: 'npm ci', place: ['bubblewrap', 'linux'] };

describe('the name of a filled cache', () => {
  it('does not depend on the order of the files', () => {
    expect(cacheKey({ ...source, files: files.toReversed() })).toBe(cacheKey(source));
  });

  it.each([
    { files: [{ path: 'package-lock.json', object: '3' }, ...files.slice(1)] },
    { files: files.slice(1) },
    { command: 'npm install' },
    { place: ['container', 'linux'] },
  ])('differs for %j', (other) => {
    expect(cacheKey({ ...source, ...other })).not.toBe(cacheKey(source));
  });
});

it.each([
  'web/package-lock.json',
  'Cargo.toml',
  'requirements/dev.txt',
  'Gemfile.lock',
  'deno.lock',
  'rust-toolchain.toml',
])('%s decides which packages are fetched', (path) => expect(packageFiles([{ path }])).toEqual([{ path }]));

it.each(['src/main.rs', 'node_modules/a/package.json', 'README.md', 'lock'])('%s does not', (path) =>
  expect(packageFiles([{ path }])).toEqual([]),
);

it('a fill sees package files, settings of package managers, build files and the programs of its command', () => {
  const paths = ['package.json', '.npmrc', 'a/Makefile', '.tool-versions', 'setup.sh', 'src/a.ts', 'scripts/b.sh'];
  const seen = installFiles(paths.map((path) => ({ path })), ['setup.sh']).map(({ path }) => path); // prettier-ignore
  expect(seen.toSorted()).toEqual(['.npmrc', '.tool-versions', 'a/Makefile', 'package.json', 'setup.sh']);
});

it('a cache is filled by each set-up command once, and by none if the project has none', () => {
  expect(fillCommand('npm ci', 'npm ci')).toBe('(\nnpm ci\n)');
  expect(fillCommand('npm ci # all', 'cargo fetch')).toBe('(\nnpm ci # all\n) && (\ncargo fetch\n)');
  expect(fillCommand(undefined, undefined)).toBeUndefined();
});
