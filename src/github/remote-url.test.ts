import { describe, expect, it } from 'vitest';
import { parseRemoteUrl, parseRepository, renderRepository } from './find-github.ts';

describe('the address of a remote', () => {
  it.each([
    ['https://github.com/owner/name.git', 'owner/name'],
    ['https://github.com/owner/name', 'owner/name'],
    ['https://user:secret@github.com/owner/name/', 'owner/name'],
    ['git@github.com:owner/name.git', 'owner/name'],
    ['ssh://git@github.com/owner/name.git', 'owner/name'],
    ['ssh://git@ssh.github.com:443/owner/name.git', 'owner/name'],
    ['git@GitHub.com:owner/na.me.git', 'owner/na.me'],
    ['https://git.example.org/owner/name', 'git.example.org/owner/name'],
  ])('%s is %s', (url, repository) => {
    const parsed = parseRemoteUrl(url);
    expect(parsed && renderRepository(parsed)).toBe(repository);
    expect(parseRepository(repository)).toEqual(parsed);
  });

  it.each([
    '/srv/git/name.git',
    '../name.git',
    'file:///srv/git/owner/name',
    'https://github.com/owner',
    'https://gitlab.com/group/sub/name.git',
    'https://github.com/owner/..',
    'https://github.com/owner/name?x',
    '',
  ])('%s is none', (url) => {
    expect(parseRemoteUrl(url)).toBeUndefined();
  });
});

describe('a repository as text', () => {
  it.each(['name', 'a/b/c/d', 'owner/na me', 'owner/', '/name', 'owner/name?state=all'])('is not %s', (text) => {
    expect(parseRepository(text)).toBeUndefined();
  });
});
