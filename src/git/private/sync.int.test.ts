import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fencePath } from '../fence/fence.ts';
import { codeOf, valueOf } from '../scratch.cases.ts';
import { findImports } from './find-imports.ts';
import { findPrivateGit } from './find.ts';
import { refreshPrivateGit } from './refresh.ts';
import { removePrivateGit } from './remove.ts';
import { BRANCH, oddScratch, Session } from './session.cases.ts';
import { hasPrivateChanges, syncPrivateGit, type SyncResult } from './sync.ts';
import { inLongLane } from '../../../test/lanes.ts';

let session: Session;
afterEach(() => session.end());

describe("the task's branch", () => {
  it('follows commits and rewrites, and so do HEAD, index and reflog of the worktree', async () => {
    session = await Session.begin();
    const { scratch, worktree } = session;
    // The supervisor watches this folder from the start.
    expect(existsSync(join(session.git.folder, 'git/logs'))).toBe(true);
    session.commit({ a: '1' }, 'one');
    expect(await sync()).toEqual([`${BRANCH} done`]);
    session.commit({ a: '2' }, 'two');
    session.run('commit', '--quiet', '--amend', '-m', 'rewritten');
    expect(await sync()).toEqual([`${BRANCH} done`]);
    session.run('reset', '--quiet', '--hard', 'HEAD^');
    expect(await sync()).toEqual([`${BRANCH} done`]);
    expect(await sync()).toEqual([]);
    expect(scratch.git(worktree, 'log', '--format=%s')).toBe('one\nfirst');
    expect(scratch.git(worktree, 'diff-files')).toBe('');
    expect(scratch.git(worktree, 'reflog', '--format=%gs')).toContain('baton: from the sandbox');
    // No object is sent twice, and there are no empty packs.
    const packs = readdirSync(join(session.repo, '.git/objects/pack')).filter((name) => name.endsWith('.pack'));
    expect(packs).toHaveLength(2);
  });

  it('keeps commits of people: it moves onto them, and not away from them', async () => {
    session = await Session.begin();
    const { scratch, worktree } = session;
    const theirs = scratch.commit(worktree, { theirs: '' }, 'theirs');
    session.commit({ mine: '' }, 'mine');
    expect(await sync()).toEqual([`${BRANCH} diverged`]);
    expect(session.ref(`refs/heads/${BRANCH}`)).toBe(theirs);
    session.run('rebase', '--quiet', theirs);
    expect(await sync()).toEqual([`${BRANCH} done`]);
    expect(scratch.git(worktree, 'log', '--format=%s')).toBe('mine\ntheirs\nfirst');
    scratch.git(session.repo, 'update-ref', '-d', `refs/heads/${BRANCH}`);
    session.commit({ mine: '2' });
    expect(await sync()).toEqual([`${BRANCH} gone`]);
  });

  it('does not move after the claim is lost', async () => {
    session = await Session.begin();
    const before = session.refs();
    session.claim(2);
    session.commit({ a: '1' });
    session.run('branch', 'side');
    expect(await sync()).toEqual([`${BRANCH} claim-lost`, 'side claim-lost']);
    // The fence may open without another commit, so the change must stay visible.
    expect(hasPrivateChanges(session.git)).toBe(true);
    expect(session.refs()).toBe(before);
    session.claim(1);
    expect(await sync()).toEqual([`${BRANCH} done`, 'side done']);
  });
});

describe('after the claim has ended', () => {
  const gitDir = (): string => join(session.git.folder, 'git');
  const ways: Readonly<Record<string, (head: string) => void>> = {
    'a commit': () => undefined,
    'a ref file': (head) => {
      session.run('reset', '--quiet', '--hard', 'HEAD^');
      writeFileSync(join(gitDir(), 'refs/heads', BRANCH), `${head}\n`);
    },
    'packed refs': () => session.run('pack-refs', '--all'),
    'a moved HEAD': () => session.run('switch', '--quiet', 'side'),
    'an amended commit': () => session.run('commit', '--quiet', '--amend', '--message', 'other'),
  };

  it.each(Object.keys(ways))('nothing of the session is imported, by the next claim neither: %s', async (way) => {
    session = await Session.begin();
    const { scratch, worktree, stateDir } = session;
    const claimOf = (epoch: number) => ({ livePath: fencePath(stateDir, 'p', 'T1'), epoch });
    session.claim(1);
    await session.prepare({ fence: claimOf(1) });
    session.run('branch', 'side');
    session.commit({ a: '1' });
    await sync();
    const before = [session.refs(), scratch.git(worktree, 'symbolic-ref', 'HEAD')];
    session.claim(2);
    const evil = session.commit({ a: 'evil' });
    session.run('branch', '-f', 'side', evil);
    ways[way]?.(evil);
    await sync();
    // The set-up command of the next claim, and then its session, resumed or not.
    await session.prepare({ fence: claimOf(2), isResumed: true });
    await session.prepare({ fence: claimOf(2) });
    expect([session.refs(), scratch.git(worktree, 'symbolic-ref', 'HEAD')]).toEqual(before);
    expect(session.run('rev-parse', BRANCH)).toBe(session.ref(`refs/heads/${BRANCH}`));
    expect(session.run('for-each-ref', 'refs/baton/kept')).not.toBe('');
    session.commit({ b: '1' });
    expect(await sync()).toEqual([`${BRANCH} done`]);
    expect(() => scratch.git(worktree, 'cat-file', '-e', evil)).toThrow(/./);
  });
});

describe('who brought commits that the record does not have', () => {
  it('is the claim whose git directory imported them, also below commits of a person', async () => {
    session = await Session.begin();
    const { scratch, repo, worktree, stateDir } = session;
    const own = { gitDir: join(repo, '.git') };
    const find = async (old: string | null, head: string, branch = BRANCH) =>
      findImports(stateDir, own, { taskId: 'T1', branch, old, head });
    session.claim(1);
    await session.prepare({ fence: { livePath: fencePath(stateDir, 'p', 'T1'), epoch: 1 } });
    const measured = session.commit({ a: '1' });
    await sync();
    expect(await find(measured, measured)).toEqual([]);
    // Between the measurement and the end of the claim.
    const late = session.commit({ a: '2' });
    session.run('branch', 'feature/t2');
    await sync();
    expect(await find(measured, late)).toEqual([{ task_id: 'T1', epoch: 1 }]);
    // The branch of a task that has not begun.
    expect(await find(null, late, 'feature/t2')).toEqual([{ task_id: 'T1', epoch: 1 }]);
    const theirs = scratch.commit(worktree, { b: '1' });
    expect(await find(measured, theirs)).toEqual([{ task_id: 'T1', epoch: 1 }]);
    expect(await find(late, theirs)).toEqual([]);
  });
});

describe('other branches', () => {
  it('of the session are created, moved, followed and deleted', async () => {
    session = await Session.begin();
    const { scratch, worktree } = session;
    session.run('switch', '--quiet', '--create', '__proto__');
    session.commit({ a: '1' });
    expect(await sync()).toEqual(['__proto__ done']);
    expect(scratch.git(worktree, 'symbolic-ref', 'HEAD')).toBe('refs/heads/__proto__');
    expect(scratch.git(worktree, 'status', '--porcelain')).toBe('');
    session.commit({ a: '2' });
    session.run('pack-refs', '--all');
    expect(await sync()).toEqual(['__proto__ done']);
    session.run('switch', '--quiet', BRANCH);
    session.run('branch', '--quiet', '-D', '__proto__');
    expect(await sync()).toEqual(['__proto__ done']);
    expect(session.ref('refs/heads/__proto__')).toBe('');
    expect(scratch.git(worktree, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${BRANCH}`);
  });

  it('that people made, moved or deleted meanwhile stay as people left them', async () => {
    session = await Session.begin((scratch, repo) => void scratch.git(repo, 'branch', 'dropped'));
    const { scratch, repo } = session;
    const first = session.ref('refs/heads/main');
    scratch.git(repo, 'branch', '-D', 'dropped');
    session.run('branch', 'mine');
    session.run('branch', 'both');
    scratch.git(repo, 'branch', 'both');
    expect(await sync()).toEqual(['both taken', 'mine done']);
    const theirs = scratch.commit(repo, { x: '' });
    scratch.git(repo, 'branch', '-f', 'mine', 'main');
    session.commit({ y: '' });
    session.run('branch', '-f', 'mine', 'HEAD');
    session.run('branch', '-f', 'both', 'HEAD');
    expect(await sync()).toEqual(['both taken', `${BRANCH} done`, 'mine taken']);
    // Not synced even if the session guesses the value.
    session.run('update-ref', 'refs/heads/both', first);
    session.run('fetch', '--quiet', repo, '+main:mine');
    expect(await sync()).toEqual(['both taken', 'mine taken']);
    session.run('branch', '-D', 'mine', 'both');
    await sync();
    expect([session.ref('refs/heads/mine'), session.ref('refs/heads/both')]).toEqual([theirs, first]);
    expect(session.ref('refs/heads/dropped')).toBe('');
  });
});

describe('after a kill', () => {
  it.each([
    ['between import and ref move', 'before'],
    ['between ref move and its record', 'after'],
  ])('%s the next sync finishes', async (_, when) => {
    session = await Session.begin();
    const head = session.commit({ a: '1' });
    session.run('branch', 'side');
    const killed = [killedSync(session, when, BRANCH), killedSync(session, when, 'side')];
    expect(killed).toEqual(['SIGKILL', 'SIGKILL']);
    expect(existsSync(join(session.repo, '.git/objects', head.slice(0, 2), head.slice(2)))).toBe(false);
    expect(session.scratch.git(session.repo, 'cat-file', '-t', head)).toBe('commit');
    const git = findPrivateGit(session.stateDir, session.worktree);
    expect(git).toEqual(session.git);
    valueOf(await syncPrivateGit(session.git));
    expect([session.ref(`refs/heads/${BRANCH}`), session.ref('refs/heads/side')]).toEqual([head, head]);
    expect(session.scratch.git(session.worktree, 'status', '--porcelain')).toBe('');
    // The branch counts as the session's own, so the session may delete it.
    session.run('branch', '-D', 'side');
    expect(await sync()).toEqual(['side done']);
  });
});

describe('repositories of every kind', () => {
  it('with SHA-256 and no commit yet', async () => {
    const scratch = oddScratch();
    const repo = join(scratch.folder, 'repo');
    scratch.git(scratch.folder, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', repo);
    session = await Session.in(scratch, repo, repo);
    const head = session.commit({ a: '1' });
    expect(head).toHaveLength(64);
    expect(await sync()).toEqual(['main done']);
    expect(scratch.git(repo, 'status', '--porcelain', '--branch')).toBe('## main');
  });

  inLongLane(() => {
    it("with submodules: a person's git status runs nothing that a session put there", async () => {
      session = await Session.begin((scratch, repo) => {
        const inner = scratch.repository('inner');
        scratch.git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'old');
        scratch.git(repo, 'commit', '--quiet', '--message', 'submodule');
      });
      const { scratch, worktree } = session;
      const ran = join(scratch.folder, 'ran');
      for (const name of ['old', 'new']) {
        const folder = join(worktree, name);
        scratch.git(scratch.folder, 'init', '--quiet', folder);
        scratch.git(
          folder,
          'config',
          'core.fsmonitor',
          `touch '${name}' '${ran.replaceAll("'", String.raw`'\''`)}'; :`,
        );
        scratch.commit(folder, { f: name });
        scratch.write(folder, { f: 'changed' });
      }
      rmSync(ran, { force: true });
      expect(scratch.git(worktree, 'status', '--porcelain')).toBe('?? new/');
      // Inside the sandbox git runs as the session, which sees its submodule.
      expect(session.run('status', '--porcelain')).toMatch(/M old/);
      rmSync(ran, { force: true });
      session.run('add', 'old', 'new');
      session.run('commit', '--quiet', '--message', 'both');
      expect(await sync()).toEqual([`${BRANCH} done`]);
      expect(scratch.git(worktree, 'status', '--porcelain')).toBe('');
      expect(scratch.git(worktree, 'diff', 'HEAD~1', '--stat')).not.toBe('');
      expect(existsSync(ran)).toBe(false);
      // Without the mark, git status would show the submodule.
      scratch.git(worktree, 'update-index', '--no-assume-unchanged', 'new');
      expect(scratch.git(worktree, 'status', '--porcelain')).toBe('M new');
      expect(existsSync(ran)).toBe(true);
    });
  });

  it('with a detached HEAD, alternates and line ends to convert', async () => {
    const scratch = oddScratch();
    const base = scratch.repository('base');
    scratch.git(base, 'config', 'core.autocrlf', 'true');
    scratch.git(scratch.folder, 'clone', '--quiet', '--shared', '--config', 'core.autocrlf=true', base, 'repo');
    const repo = join(scratch.folder, 'repo');
    scratch.git(repo, 'checkout', '--quiet', '--detach');
    session = await Session.in(scratch, repo, repo);
    expect(session.git).toMatchObject({
      branch: null,
      objects: [join(repo, '.git/objects'), join(base, '.git/objects')],
    });
    const head = session.commit({ a: '1\r\n' });
    expect(await sync()).toEqual([]);
    expect(scratch.git(repo, 'rev-parse', 'HEAD')).toBe(head);
    expect(scratch.git(repo, 'diff-files')).toBe('');
    expect(scratch.git(repo, 'cat-file', 'blob', 'HEAD:a')).toBe('1');
  });

  inLongLane(() => {
    it('with a sparse checkout', async () => {
      session = await Session.begin((scratch, repo) => void scratch.commit(repo, { 'in/a': '', 'out/b': '' }));
      const { scratch, worktree } = session;
      scratch.git(worktree, 'sparse-checkout', 'set', 'in');
      await session.prepare();
      expect(session.run('status', '--porcelain')).toBe('');
      session.commit({ 'in/a': '1' });
      expect(await sync()).toEqual([`${BRANCH} done`]);
      expect(scratch.git(worktree, 'status', '--porcelain')).toBe('');
      expect(scratch.git(worktree, 'ls-tree', '-r', '--name-only', 'HEAD')).toBe('README.md\nin/a\nout/b');
      expect(existsSync(join(worktree, 'out'))).toBe(false);
    });
  });

  it('with Git LFS: files that match their name are copied', async () => {
    session = await Session.begin();
    const [large, false_] = [createHash('sha256').update('large').digest('hex'), 'ab'.repeat(32)];
    const objects = join(session.git.folder, 'git/lfs/objects');
    const path = (sha: string): string => join(sha.slice(0, 2), sha.slice(2, 4), sha);
    session.scratch.write(objects, { [path(large)]: 'large', [path(false_)]: 'false' });
    mkdirSync(join(objects, 'cd/ef'), { recursive: true });
    symlinkSync('/etc/passwd', join(objects, path('cdef'.repeat(16))));
    // Files of another repository, behind a link.
    const other = createHash('sha256').update('other').digest('hex');
    const outside = join(session.scratch.folder, 'other');
    session.scratch.write(outside, { [join(other.slice(2, 4), other)]: 'other' });
    symlinkSync(outside, join(objects, other.slice(0, 2)));
    await sync();
    const theirs = join(session.repo, '.git/lfs/objects');
    expect(readFileSync(join(theirs, path(large)), 'utf8')).toBe('large');
    expect(readdirSync(theirs, { recursive: true }).filter((each) => /\w{64}/.test(String(each)))).toEqual([
      path(large),
    ]);
  });
});

describe('a next session', () => {
  inLongLane(() => {
    it('finds unsynced work of the earlier one, and its directory is not removed before', async () => {
      session = await Session.begin();
      const { stateDir, worktree, scratch, repo } = session;
      session.run('switch', '--quiet', 'main');
      const lost = session.commit({ a: '1' }, 'on main');
      session.run('switch', '--quiet', BRANCH);
      session.commit({ b: '1' });
      expect(await sync()).toEqual([`${BRANCH} done`, 'main not-yours']);
      scratch.write(worktree, { b: '2' });
      session.run('stash', '--quiet');
      const stash = session.run('rev-parse', 'stash');
      await session.prepare();
      expect(session.run('rev-parse', 'main', 'stash', `refs/baton/kept/main/${lost.slice(0, 12)}`)).toBe(
        [session.ref('refs/heads/main'), stash, lost].join('\n'),
      );
      expect(session.run('stash', 'list')).toContain('stash@{0}');
      expect(codeOf(await removePrivateGit(stateDir, worktree))).toBe('git/worktree-keeps-work');
      session.run('stash', 'drop', '--quiet');
      session.run('symbolic-ref', 'refs/heads/odd', 'refs/heads/main');
      expect(codeOf(await removePrivateGit(stateDir, worktree))).toBe('git/worktree-keeps-work');
      session.run('symbolic-ref', '--delete', 'refs/heads/odd');
      expect(codeOf(await removePrivateGit(stateDir, worktree))).toBe('git/worktree-keeps-work');
      session.run('cherry-pick', lost);
      session.run('update-ref', '-d', `refs/baton/kept/main/${lost.slice(0, 12)}`);
      expect(codeOf(await removePrivateGit(stateDir, worktree))).toBe('git/worktree-keeps-work');
      await sync();
      scratch.git(repo, 'branch', '-m', BRANCH, 'renamed');
      valueOf(await removePrivateGit(stateDir, worktree));
      expect(findPrivateGit(stateDir, worktree)).toBeNull();
      expect(readdirSync(join(stateDir, 'private-git'))).toEqual([]);
    });
  });

  inLongLane(() => {
    it('of the same kind continues where it was, with the current main', async () => {
      session = await Session.begin();
      const { scratch, repo } = session;
      session.run('switch', '--quiet', '--create', 'conflict');
      session.commit({ 'README.md': 'other\n' });
      session.run('switch', '--quiet', BRANCH);
      session.commit({ 'README.md': 'mine\n' });
      expect(() => session.run('merge', 'conflict')).toThrow(/merge/);
      const main = scratch.commit(repo, { x: '' });
      await session.prepare({ isResumed: true });
      expect(session.run('rev-parse', 'main')).toBe(main);
      expect(session.run('status', '--porcelain')).toBe('UU README.md');
      expect(session.run('rev-parse', '--verify', 'MERGE_HEAD')).toBe(session.ref('refs/heads/conflict'));
      expect(hasPrivateChanges(session.git)).toBe(false);
      // The same while the session runs.
      const later = scratch.commit(repo, { y: '' });
      const lock = join(session.git.folder, 'git/packed-refs.lock');
      writeFileSync(lock, '');
      expect(valueOf(await refreshPrivateGit(session.git))).toBe('busy');
      rmSync(lock);
      expect(valueOf(await refreshPrivateGit(session.git))).toBe('fresh');
      expect(session.run('rev-parse', 'main')).toBe(later);
      expect(hasPrivateChanges(session.git)).toBe(false);
      await session.prepare();
      expect(() => session.run('rev-parse', '--verify', 'MERGE_HEAD')).toThrow(/Needed/);
      expect(session.run('status', '--porcelain')).toBe('M README.md');
    });
  });

  it('is not stopped by what the earlier one left', async () => {
    session = await Session.begin();
    const gitDir = join(session.git.folder, 'git');
    const outside = join(session.scratch.folder, 'outside');
    mkdirSync(join(outside, 'info'), { recursive: true });
    writeFileSync(join(outside, 'info/exclude'), 'mine');
    for (const name of ['config', 'HEAD', 'packed-refs', 'index', 'info', 'logs', 'refs', 'objects'])
      spawnSync('sh', ['-c', `rm -rf "$1"; ln -s "$2" "$1"`, 'sh', join(gitDir, name), join(outside, 'info')]);
    spawnSync('sh', [
      '-c',
      'mkfifo "$1"; mkdir -p "$2/d"; chmod 0 "$2"',
      'sh',
      join(gitDir, 'pipe'),
      join(gitDir, 'rr'),
    ]);
    chmodSync(gitDir, 0);
    expect(hasPrivateChanges(session.git)).toBe(true);
    const before = session.refs();
    await session.prepare();
    expect(session.refs()).toBe(before);
    expect(readdirSync(outside, { recursive: true })).toEqual(['info', 'info/exclude']);
    expect(readFileSync(join(outside, 'info/exclude'), 'utf8')).toBe('mine');
    session.commit({ a: '1' });
    expect(await sync()).toEqual([`${BRANCH} done`]);
  });
});

/** Returns the outcome for each branch. */
async function sync(): Promise<string[]> {
  const { moved, refused }: SyncResult = valueOf(await syncPrivateGit(session.git));
  return [
    ...moved.map(({ branch }) => `${branch} done`),
    ...refused.map(({ branch, reason }) => `${branch} ${reason}`),
  ].toSorted();
}

/**
 * Syncs in another process, which is killed before or after git moves the branch. Returns the signal that killed it.
 */
function killedSync({ scratch, git }: Session, when: string, branch: string): string | null {
  const kill = `case "$*" in *update-ref*refs/heads/${branch}\\ *) `;
  const run = 'git_() { PATH=${PATH#*:} git "$@"; }';
  const script =
    when === 'before'
      ? `${kill} kill -9 $PPID; exit 1;; esac; git_ "$@"`
      : `git_ "$@"; code=$?; ${kill} kill -9 $PPID;; esac; exit $code`;
  const bin = join(scratch.folder, 'bin');
  scratch.write(bin, { git: `#!/bin/sh\n${run}\n${script}\n` }, 0o755);
  const code = `import { syncPrivateGit } from ${JSON.stringify(join(import.meta.dirname, 'sync.ts'))};
    await syncPrivateGit(JSON.parse(process.argv[1]));`;
  const args = ['--input-type=module', '--eval', code, JSON.stringify(git)];
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
  return spawnSync(process.execPath, args, { env }).signal;
}
