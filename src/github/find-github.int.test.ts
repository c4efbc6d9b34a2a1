import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Scratch } from '../git/scratch.cases.ts';
import { findGithub, findHeadOwner, type GithubSettings } from './find-github.ts';

const scratch = new Scratch();
const bin = join(scratch.folder, 'bin');
scratch.write(bin, { gh: '#!/bin/sh\n' }, 0o755);
afterAll(() => scratch.remove());

const NOTHING: GithubSettings = { pullRequests: undefined, repository: undefined, remote: undefined, draft: false };

let count = 0;
async function find(remotes: Record<string, string>, settings: Partial<GithubSettings> = {}, env = {}) {
  const repo = scratch.repository(`repo-${(count += 1)}`);
  for (const [name, url] of Object.entries(remotes)) scratch.git(repo, 'remote', 'add', name, url);
  return findGithub(repo, { ...NOTHING, ...settings }, { PATH: bin, ...env });
}

const HERE = { origin: 'git@github.com:owner/name.git' };

describe('whether a project has pull requests', () => {
  it('is true with a remote at GitHub and gh, and false without either', async () => {
    expect(await find(HERE)).toEqual({ repository: 'owner/name', remote: 'origin', draft: false });
    expect(await find(HERE, {}, { PATH: '/nowhere' })).toBeUndefined();
    expect(await find({ origin: '/srv/name.git' })).toBeUndefined();
    expect(await find({})).toBeUndefined();
    expect(await find({ origin: 'https://git.example.org/owner/name' })).toBeUndefined();
  });

  it('is unknown if git fails', async () => {
    expect(await findGithub(scratch.folder, NOTHING, { PATH: bin })).toBe('unknown');
  });

  it('prefers origin to others, and the named remote to origin', async () => {
    const both = { a: 'https://github.com/a/name', ...HERE };
    expect(await find(both)).toMatchObject({ repository: 'owner/name' });
    expect(await find(both, { remote: 'a' })).toMatchObject({ repository: 'a/name', remote: 'a' });
    expect(await find({ origin: '/srv/x', hub: 'https://github.com/a/name' })).toMatchObject({ remote: 'hub' });
  });

  it('recognises a GitHub Enterprise host by GH_HOST', async () => {
    const own = { origin: 'https://git.example.org/owner/name' };
    expect(await find(own, {}, { GH_HOST: 'Git.Example.org' })).toMatchObject({
      repository: 'git.example.org/owner/name',
    });
  });

  it('follows baton.toml, with or without gh', async () => {
    expect(await find(HERE, { pullRequests: false })).toBeUndefined();
    const named = { repository: 'up/stream', draft: true };
    expect(await find(HERE, named, { PATH: '' })).toEqual({ repository: 'up/stream', remote: 'origin', draft: true });
    expect(await find({ origin: '/srv/x' }, named)).toMatchObject({ remote: 'origin' });
    expect(await find({ origin: '/srv/x' }, { pullRequests: true })).toMatchObject({ repository: '' });
  });

  it('determines the owner of the branch, also in a fork', async () => {
    const repo = scratch.repository('fork');
    scratch.git(repo, 'remote', 'add', 'origin', 'https://github.com/me/name');
    scratch.git(repo, 'remote', 'add', 'disk', '/srv/x');
    const upstream = { host: 'github.com', owner: 'up', name: 'name' };
    expect(await findHeadOwner(repo, 'origin', upstream)).toBe('me');
    expect(await findHeadOwner(repo, 'disk', upstream)).toBe('up');
  });
});
