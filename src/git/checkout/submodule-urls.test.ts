import { describe, expect, it } from 'vitest';
import { findAllowedSubmodule, parseSubmodules, protocolsFor } from './submodules.ts';

describe('a .gitmodules file', () => {
  it('is read as git prints it, also with odd names', () => {
    const listed = 'submodule.a.b.path\nlib\0submodule.a.b.url\nhttps://x.org/lib\0submodule.half.path\nx\0core.x\ny\0';
    expect(parseSubmodules(listed)).toEqual([{ name: 'a.b', path: 'lib', url: 'https://x.org/lib' }]);
  });
});

describe('a submodule', () => {
  const main = [{ name: 'lib', path: 'lib', url: 'https://x.org/lib' }];

  it.each([
    ['at the path that main has, whatever the branch says', 'lib', 'ext::sh -c evil', main[0]],
    ['at another path, from a URL that main has', 'vendor/lib', 'https://x.org/lib', main[0]],
    ['from a new URL', 'vendor/lib', 'https://y.org/lib', undefined],
    ['from a URL that only begins like one', 'vendor/lib', 'https://x.org/lib/../evil', undefined],
  ])('%s', (_, path, url, allowed) => {
    expect(findAllowedSubmodule(path, main, [{ name: 'n', path, url }])).toBe(allowed);
  });

  it('is unknown if the branch does not name it', () => {
    expect(findAllowedSubmodule('x', main, [])).toBeUndefined();
  });
});

it.each([
  ['https://x.org/a', 'https'],
  ['ssh://git@x.org/a', 'ssh'],
  ['git@x.org:a/b.git', 'ssh'],
  ['file:///srv/a.git', 'file'],
  ['/srv/a.git', 'file'],
  ['http://x.org/a', undefined],
  ['git://x.org/a', undefined],
  ['ext::sh -c evil', undefined],
  ['EXT::sh -c evil', undefined],
  ['fd::17', undefined],
  ['-u./evil', undefined],
  ['--upload-pack=evil:x', undefined],
  ['../lib', undefined],
  ['./lib', undefined],
  ['', undefined],
])('%s is fetched over %s', (url, protocol) => {
  expect(protocolsFor(url)).toBe(protocol);
});
