import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { OwnRepositoryImporter } from '../own/transfer-commits.ts';
import { Scratch, valueOf } from '../scratch.cases.ts';
import { fetchRef } from './fetch-ref.ts';
import { listRemote } from './list-remote.ts';
import { findOriginUrl, findRootCommit } from './origin.ts';
import { pushRef } from './push-ref.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());
afterEach(() => {
  process.env['GIT_CONFIG_GLOBAL'] = '/dev/null';
});

let count = 0;

/** A repository with a remote, and Baton's own repositories on two hosts with clones. */
function makeHosts() {
  count += 1;
  const remote = scratch.bare(`remote-${count}.git`);
  const [path, other] = [scratch.repository(`a-${count}`), join(scratch.folder, `b-${count}`)];
  scratch.git(path, 'push', '--quiet', remote, 'main');
  scratch.git(scratch.folder, 'clone', '--quiet', remote, other);
  const own = (place: string) =>
    new OwnRepositoryImporter({
      stateDir: join(scratch.folder, `state ${place.slice(-3)}`),
      projectId: 'p',
      path: place,
    });
  return { remote, path, other, here: own(path), there: own(other) };
}

const REF = 'refs/baton/T-1/1';

describe('refs at the remote', () => {
  it('travel from one host to another, by name or by commit', async () => {
    const { remote, path, here, there } = makeHosts();
    const sha = scratch.commit(path, { 'a.txt': 'one\n' });
    const own = valueOf(await here.with(sha));
    expect(await pushRef(own, { url: remote, ref: REF, sha })).toEqual({ ok: true, value: 'pushed' });
    expect(await pushRef(own, { url: remote, ref: REF, sha })).toEqual({ ok: true, value: 'pushed' });
    expect([...valueOf(await listRemote(remote, ['refs/baton/*']))]).toEqual([[REF, sha]]);
    const theirs = valueOf(await there.with());
    expect(await fetchRef(theirs, { url: remote, ref: REF })).toEqual({ ok: true, value: sha });
    const later = scratch.commit(path, { 'a.txt': 'two\n' });
    valueOf(await pushRef(valueOf(await here.with(later)), { url: remote, ref: REF, sha: later }));
    expect(await fetchRef(theirs, { url: remote, ref: later })).toEqual({ ok: true, value: later });
    expect(scratch.git(theirs.gitDir, 'show', `${later}:a.txt`)).toBe('two');
    expect(await fetchRef(theirs, { url: remote, ref: 'refs/baton/T-2/1' })).toMatchObject({
      ok: false,
      problem: { code: 'git/no-remote-ref' },
    });
  });

  it('move under a lease only if they are where it says', async () => {
    const { remote, path, here } = makeHosts();
    const url = remote;
    const first = scratch.git(path, 'rev-parse', 'HEAD');
    const second = scratch.commit(path, { 'a.txt': 'two\n' });
    const own = valueOf(await here.with(second));
    const ref = 'refs/heads/main';
    expect(await pushRef(own, { url, ref, sha: second, lease: second })).toEqual({ ok: true, value: 'moved' });
    expect(await pushRef(own, { url, ref, sha: second, lease: null })).toEqual({ ok: true, value: 'moved' });
    expect(await pushRef(own, { url, ref, sha: second, lease: first })).toEqual({ ok: true, value: 'pushed' });
    // As after a push whose answer was lost.
    expect(await pushRef(own, { url, ref, sha: second, lease: first })).toEqual({ ok: true, value: 'pushed' });
    expect(await pushRef(own, { url, ref: REF, sha: first, lease: null })).toEqual({ ok: true, value: 'pushed' });
    expect(await pushRef(own, { url, ref: REF, sha: null, lease: second })).toEqual({ ok: true, value: 'moved' });
    expect(await pushRef(own, { url, ref: REF, sha: null, lease: first })).toEqual({ ok: true, value: 'pushed' });
    expect(valueOf(await listRemote(url, [REF])).size).toBe(0);
  });

  it('are refused with the reason of the remote', async () => {
    const { remote, path, here } = makeHosts();
    scratch.write(remote, { 'hooks/pre-receive': '#!/bin/sh\necho "closed for today" >&2\nexit 1\n' }, 0o755);
    const sha = scratch.commit(path, { 'a.txt': 'one\n' });
    const refused = await pushRef(valueOf(await here.with(sha)), { url: remote, ref: REF, sha });
    expect(refused).toMatchObject({ ok: false, problem: { code: 'git/push-rejected' } });
    expect(JSON.stringify(refused)).toContain('closed for today');
  });
});

describe("Baton's own repository", () => {
  it('gets a commit that only another host has from the remote on record', async () => {
    const { remote, path, other, here } = makeHosts();
    const sha = scratch.commit(path, { 'a.txt': 'one\n' });
    valueOf(await pushRef(valueOf(await here.with(sha)), { url: remote, ref: REF, sha }));
    const place = { stateDir: join(scratch.folder, 'state fleet'), projectId: 'p', path: other };
    const local = scratch.git(other, 'rev-parse', 'HEAD');
    const importer = new OwnRepositoryImporter(place, undefined, () => remote);
    const own = valueOf(await importer.with(local, sha));
    expect(scratch.git(own.gitDir, 'show', `${sha}:a.txt`)).toBe('one');
    expect(await importer.with('0'.repeat(40))).toMatchObject({ ok: false, problem: { code: 'git/damaged-object' } });
    expect(await fetchRef(own, { url: remote, ref: '0'.repeat(40) })).toMatchObject({
      problem: { code: 'git/no-remote-ref' },
    });
    const away = new OwnRepositoryImporter({ ...place, projectId: 'r' }, undefined, () => `${remote}.away`);
    expect(await away.with(sha)).toMatchObject({ ok: false, problem: { code: 'git/remote-unreachable' } });
    const alone = new OwnRepositoryImporter({ ...place, projectId: 'q' });
    expect(await alone.with(sha)).toMatchObject({ ok: false, problem: { code: 'git/damaged-object' } });
  });
});

describe('a remote operation', () => {
  it('follows the global configuration of the operator, and none of the repository', async () => {
    const { remote, path, here } = makeHosts();
    const config = join(scratch.folder, 'global config');
    writeFileSync(config, `[url "${remote}"]\n\tinsteadOf = https://git.invalid/p.git\n`);
    process.env['GIT_CONFIG_GLOBAL'] = config;
    scratch.git(path, 'config', `url./nowhere.insteadOf`, 'https://git.invalid/p.git');
    scratch.git(path, 'config', 'core.sshCommand', 'touch /nowhere');
    const sha = scratch.commit(path, { 'a.txt': 'one\n' });
    const push = { url: 'https://git.invalid/p.git', ref: REF, sha };
    expect(await pushRef(valueOf(await here.with(sha)), push)).toEqual({ ok: true, value: 'pushed' });
    expect(valueOf(await listRemote(remote, [REF])).get(REF)).toBe(sha);
  });

  it('runs no program for a rewritten address, and shows no password', async () => {
    const { here } = makeHosts();
    const config = join(scratch.folder, 'other config');
    writeFileSync(config, '[url "ext::sh -c false "]\n\tinsteadOf = https://ada:secret@git.invalid/\n');
    process.env['GIT_CONFIG_GLOBAL'] = config;
    const listed = await listRemote('https://ada:secret@git.invalid/p.git', ['HEAD']);
    expect(listed).toMatchObject({ ok: false, problem: { code: 'git/remote-unreachable' } });
    expect(JSON.stringify(listed)).toMatch(/transport 'ext' not allowed/);
    expect(JSON.stringify(listed)).not.toContain('secret');
    const own = valueOf(await here.with());
    expect(await fetchRef(own, { url: 'ext::sh', ref: 'HEAD' })).toMatchObject({ problem: { code: 'git/bad-remote' } });
  });
});

describe('a clone', () => {
  it('is recognised by the first commit of its main branch, and names its remote without a password', async () => {
    const { path, other, remote } = makeHosts();
    const root = scratch.git(path, 'rev-parse', 'HEAD');
    scratch.commit(path, { 'a.txt': 'one\n' });
    expect(await findRootCommit(path)).toEqual({ ok: true, value: root });
    expect(await findRootCommit(other)).toEqual({ ok: true, value: root });
    expect(await findOriginUrl(path)).toEqual({ ok: true, value: null });
    expect(await findOriginUrl(other)).toEqual({ ok: true, value: remote });
    scratch.git(path, 'remote', 'add', 'origin', 'https://ada:secret@example.org/p.git');
    expect(await findOriginUrl(path)).toEqual({ ok: true, value: 'https://example.org/p.git' });
    const shallow = join(scratch.folder, 'shallow');
    scratch.git(scratch.folder, 'clone', '--quiet', '--depth=1', `file://${path}`, shallow);
    expect(await findRootCommit(shallow)).toMatchObject({ problem: { code: 'git/shallow-repository' } });
  });
});
